// Editing in the plane with pointer, touch and keys. A click on nothing adds a point, a drag moves
// one; the tools "switch" and "erase" act on the point clicked. With the keyboard a crosshair does
// the same. `createHand(app, plane)`.

import { announce, byId } from "./dom.js";
import { brief } from "./numbers.js";
import { isInside } from "./geometry.js";
import { addPoint, erasePoint, movePoint, setTool, switchClass } from "./state.js";

const REACH = { mouse: 11, pen: 14, touch: 22 }; // pixels from a point that still mean it

export function createHand(app, plane) {
  const { store } = app;
  const { node, hand } = plane;
  const frame = byId("plane-frame");
  let drag = null; // {index, id, moved, name}

  const canEdit = () => Boolean(store.state.data.points) && !app.isRecorded;
  const position = (event) => {
    const area = node.getBoundingClientRect();
    return [event.clientX - area.left, event.clientY - area.top];
  };
  const nearest = ([px, py], reach) => {
    const view = plane.view();
    let best = -1;
    let least = reach ** 2;
    store.state.data.points?.forEach(([x, y], i) => {
      const distance = (view.x(x) - px) ** 2 + (view.y(y) - py) ** 2;
      if (distance <= least) {
        least = distance;
        best = i;
      }
    });
    return best;
  };
  // A point where a pixel is, with no more digits than pixels tell apart.
  const pointAt = ([px, py]) => {
    const view = plane.view();
    const digits = Math.max(0, Math.ceil(-Math.log10((view.x1 - view.x0) / view.width) + 0.3));
    const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
    return view
      .at(clamp(px, 2, view.width - 2), clamp(py, 2, view.height - 2))
      .map((value) => Number(value.toFixed(Math.min(digits, 12))) || 0);
  };

  const act = (index, point) => {
    const { tool } = store.state;
    if (tool === "erase") {
      if (index >= 0) {
        store.apply(erasePoint, index);
        hand.over = -1;
        hand.picked = -1;
        announce("Point erased");
      }
    } else if (tool === "switch") {
      if (index >= 0) {
        store.apply(switchClass, index);
        tell(index, "Now");
      }
    } else if (index < 0) {
      store.apply(addPoint, point);
      tell(store.state.data.points.length - 1, "Added");
    }
  };
  const tell = (index, word) => {
    const { points, labels, names } = store.state.data;
    announce(
      `${word} ${names[labels[index]]} at ${brief(points[index][0])}, ${brief(points[index][1])}`,
    );
  };

  // A finger on a point moves it; elsewhere it may scroll the page, and a tap adds.
  node.addEventListener(
    "touchstart",
    (event) => {
      const [touch] = event.touches;
      if (canEdit() && event.touches.length === 1 && nearest(position(touch), REACH.touch) >= 0)
        event.preventDefault();
    },
    { passive: false },
  );
  node.addEventListener("pointerdown", (event) => {
    if (!canEdit() || event.button !== 0 || drag) return;
    event.preventDefault(); // the focus stays where it is, so that the keys of time go on working
    if (document.activeElement === node) hand.cursor = null;
    const at = position(event);
    const index = nearest(at, REACH[event.pointerType] ?? 14);
    node.setPointerCapture(event.pointerId);
    drag = { index, id: event.pointerId, from: at, moved: false, name: `drag ${event.timeStamp}` };
  });
  node.addEventListener("pointermove", (event) => {
    const at = position(event);
    if (!drag) {
      if (event.pointerType !== "touch") hover(nearest(at, REACH.mouse));
      return;
    }
    if (event.pointerId !== drag.id) return;
    if (!drag.moved && Math.hypot(at[0] - drag.from[0], at[1] - drag.from[1]) < 4) return;
    drag.moved = true;
    if (drag.index >= 0 && store.state.tool !== "erase") {
      frame.dataset.over = "drag";
      hand.over = drag.index;
      app.editing = true;
      store.during(drag.name, movePoint, drag.index, pointAt(at));
    } else if (store.state.tool === "erase") {
      const index = nearest(at, REACH.mouse);
      if (index >= 0) store.during(drag.name, erasePoint, index);
    }
  });
  const drop = (event) => {
    if (!drag || event.pointerId !== drag.id) return;
    const { index, moved, from } = drag;
    drag = null;
    app.editing = false;
    store.endGesture();
    if (event.type === "pointerup" && !moved) act(index, pointAt(from));
    else if (moved && index >= 0) {
      tell(Math.min(index, store.state.data.points.length - 1), "Moved");
      app.settled();
      app.askInFull();
    }
    hover(event.pointerType === "touch" ? -1 : nearest(position(event), REACH.mouse));
  };
  node.addEventListener("pointerup", drop);
  node.addEventListener("pointercancel", drop);
  node.addEventListener("pointerleave", () => {
    if (!drag) hover(-1);
  });
  node.addEventListener("contextmenu", (event) => {
    // the other button switches the class
    const index = nearest(position(event), REACH.mouse);
    if (!canEdit() || index < 0) return;
    event.preventDefault();
    store.apply(switchClass, index);
  });

  const hover = (index) => {
    const { tool } = store.state;
    frame.dataset.over = index < 0 ? "" : tool === "add" ? "point" : tool;
    if (hand.over !== index) {
      hand.over = canEdit() ? index : -1;
      app.invalidate();
    }
  };

  // --- keys ---------------------------------------------------------------------------------

  node.addEventListener("focus", () => {
    if (!node.matches(":focus-visible")) return;
    const view = plane.view();
    hand.cursor ??= [(view.x0 + view.x1) / 2, (view.y0 + view.y1) / 2];
    app.invalidate();
  });
  node.addEventListener("blur", () => {
    Object.assign(hand, { cursor: null, picked: -1, over: -1 });
    store.endGesture();
    app.invalidate();
  });

  const move = (dx, dy, far) => {
    const view = plane.view();
    const pixels = far ? 40 : 8;
    const [cx, cy] = hand.cursor;
    const next = [cx + (dx * pixels) / view.kx, cy + (dy * pixels) / view.ky];
    if (!isInside(view, next)) return;
    hand.cursor = pointAt([view.x(next[0]), view.y(next[1])]);
    if (hand.picked >= 0) store.during(`keys ${hand.picked}`, movePoint, hand.picked, hand.cursor);
    else hand.over = under();
    announce(
      `${brief(hand.cursor[0])}, ${brief(hand.cursor[1])}${hand.over >= 0 ? ", on a point" : ""}`,
    );
  };
  const under = () => {
    const view = plane.view();
    return nearest([view.x(hand.cursor[0]), view.y(hand.cursor[1])], REACH.mouse);
  };
  const goOn = (by) => {
    const { points } = store.state.data;
    if (!points.length) return;
    const from = hand.over < 0 && by > 0 ? -1 : Math.max(hand.over, 0);
    const index = (from + by + points.length) % points.length;
    hand.cursor = [...points[index]];
    hand.over = index;
    tell(index, `Point ${index + 1} of ${points.length}:`);
  };
  const enter = () => {
    const index = under();
    if (hand.picked >= 0) {
      tell(hand.picked, "Put down");
      hand.picked = -1;
      store.endGesture();
      app.settled();
    } else if (store.state.tool !== "add" || index < 0) act(index, hand.cursor);
    else {
      hand.picked = index;
      tell(index, "Picked up");
    }
  };
  const keys = {
    ArrowLeft: (far) => move(-1, 0, far),
    ArrowRight: (far) => move(1, 0, far),
    ArrowUp: (far) => move(0, 1, far),
    ArrowDown: (far) => move(0, -1, far),
    Enter: enter,
    n: () => goOn(1),
    b: () => goOn(-1),
    s: () => {
      const i = under();
      if (i >= 0) {
        store.apply(switchClass, i);
        tell(i, "Now");
      }
    },
    Delete: () => {
      const i = under();
      if (i >= 0) {
        store.apply(erasePoint, i);
        hand.over = -1;
        hand.picked = -1;
        announce("Point erased");
      }
    },
    Escape: () => {
      hand.picked = -1;
      node.blur();
    },
  };
  keys.Backspace = keys.Delete;
  node.addEventListener("keydown", (event) => {
    if (!canEdit() || event.ctrlKey || event.metaKey || event.altKey) return;
    if (/^[1-9]$/.test(event.key)) {
      const k = Number(event.key) - 1;
      if (k < store.state.data.names.length) store.apply(setTool, "add", k);
      return;
    }
    const key = keys[event.key];
    if (!key) return;
    event.preventDefault();
    event.stopPropagation();
    const view = plane.view();
    hand.cursor ??= [(view.x0 + view.x1) / 2, (view.y0 + view.y1) / 2];
    key(event.shiftKey);
    app.invalidate();
  });
}
