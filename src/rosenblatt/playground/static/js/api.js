// Every request of the page. In a recording (one HTML file without a server) the same questions
// are answered from the JSON in its <script id="recording">: that is the only difference.
//
// `ask(question, body)` -> answer, or throws `Refused` with one sentence to show.
// `channel(question)` -> ask with stale answers dropped: while one request is out, only the newest
// of those that follow waits; a request that takes long is given up for it.

export class Refused extends Error {}

const LONG = 400; // milliseconds after which a newer question gives up the one that is out

export function recording() {
  const node = document.getElementById("recording");
  return node ? JSON.parse(node.textContent) : null;
}

export async function ask(question, body, signal = undefined) {
  const options =
    body === undefined
      ? { signal }
      : {
          method: "POST",
          signal,
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify(body),
        };
  let answer;
  try {
    answer = await fetch(`api/${question}`, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused("The server does not answer: is `rosenblatt playground` still running?");
  }
  if (!answer.ok) throw new Refused(await reason(answer));
  const isJson = answer.headers.get("content-type")?.startsWith("application/json");
  return isJson ? answer.json() : answer.text();
}

async function reason(answer) {
  try {
    const { detail } = await answer.json();
    if (typeof detail === "string") return detail;
    return detail.map(({ loc, msg }) => `${loc.at(-1)}: ${msg}`).join("; ");
  } catch {
    return `The server answered ${answer.status}.`;
  }
}

export function channel(question, { onAnswer, onRefusal, onBusy = () => {} }) {
  let out = null; // {abort, since}
  let waiting = null;
  const send = async (body, tag) => {
    const abort = new AbortController();
    out = { abort, since: performance.now() };
    onBusy(true);
    try {
      const answer = await ask(question, body, abort.signal);
      if (!abort.signal.aborted) onAnswer(answer, tag);
    } catch (error) {
      if (!abort.signal.aborted) {
        if (!(error instanceof Refused)) throw error;
        if (!waiting) onRefusal(error.message, tag);
      }
    } finally {
      out = null;
      const next = waiting;
      waiting = null;
      if (next) send(...next);
      else onBusy(false);
    }
  };
  return {
    ask(body, tag = null) {
      if (!out) {
        send(body, tag);
        return;
      }
      waiting = [body, tag];
      if (performance.now() - out.since > LONG) out.abort.abort();
    },
    cancel() {
      waiting = null;
      out?.abort.abort();
    },
  };
}
