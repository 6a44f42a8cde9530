// What this browser keeps between visits, where it may.
export function remembered(name, value) {
  try {
    if (value) localStorage.setItem(`rosenblatt-${name}`, value);
    return localStorage.getItem(`rosenblatt-${name}`);
  } catch {
    return null;
  }
}
