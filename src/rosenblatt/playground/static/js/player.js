// Time. `t` counts updates; its fraction is how far the next update has come. What is shown at t
// is a function of (runs, t) alone, so going back is only another t. The player knows nothing of
// runs but where they end and where a step may stop.
//
// createPlayer({end: () => number, next: (t) => number, previous: (t) => number, onChange})

const FASTEST = 20000;

export function speedAt(position) {
  // a slider's 0…100 to updates a second, evenly in ratios
  return 0.5 * (FASTEST / 0.5) ** (position / 100);
}

export function positionOf(speed) {
  return (100 * Math.log(speed / 0.5)) / Math.log(FASTEST / 0.5);
}

export function createPlayer({ end, next, previous, onChange }) {
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  let t = 0;
  let playing = false;
  let speed = 2;
  let chosen = false; // whether the speed was chosen by a person
  let last = 0;
  let carried = 0; // of an update, where only whole updates are shown
  const change = (value) => {
    t = Math.min(Math.max(value, 0), end());
    onChange();
  };
  const tick = (now) => {
    if (!playing) return;
    const passed = Math.min(now - last, 100) / 1000;
    last = now;
    if (calm.matches || speed > 8) {
      carried += passed * Math.min(speed, calm.matches ? 4 : Infinity);
      const steps = Math.floor(carried);
      carried -= steps;
      if (steps) change(Math.max(Math.floor(t) + steps, steps === 1 ? next(t) : 0));
    } else change(t + passed * speed);
    if (t >= end()) {
      playing = false;
      t = end();
      onChange();
    } else requestAnimationFrame(tick);
  };
  return {
    get t() {
      return t;
    },
    get playing() {
      return playing;
    },
    get speed() {
      return speed;
    },
    play() {
      if (playing || end() === 0) return;
      if (t >= end()) t = 0;
      playing = true;
      carried = 1;
      last = performance.now();
      onChange();
      requestAnimationFrame(tick);
    },
    pause() {
      playing = false;
      change(t % 1 > 0.5 ? Math.ceil(t) : Math.floor(t));
    },
    toggle() {
      if (playing) this.pause();
      else this.play();
    },
    goTo(value) {
      playing = false;
      change(value);
    },
    step() {
      this.goTo(next(Math.floor(t)));
    },
    back() {
      this.goTo(previous(Math.ceil(t)));
    },
    first() {
      this.goTo(0);
    },
    last() {
      this.goTo(end());
    },
    setSpeed(value) {
      speed = value;
      chosen = true;
      onChange();
    },
    // A run of `n` updates takes about twelve seconds, unless a person chose otherwise.
    suit(n) {
      if (!chosen) speed = Math.min(Math.max(n / 12, 1.2), FASTEST);
    },
  };
}
