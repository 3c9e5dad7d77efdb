// A list of messages that follows the store: new ones appear, changed ones are replaced, the reader's place is kept.
import { h, secondsOf } from "/page/dom.js";
import { continues, messageNode } from "/page/message.js";

const NEAR_PIXELS = 120;

/** Keeps `container` showing what `read()` returns. */
export class Timeline {
  constructor(container, { scroller = container, options = () => ({}), between = () => null } = {}) {
    this.container = container;
    this.scroller = scroller;
    this.options = options;
    this.between = between;
    this.nodes = new Map(); // ts → {node, drawn, compact}
    this.channel = null;
  }

  /** Whether the reader is at the end, where new messages belong in view. */
  get isAtEnd() {
    return this.scroller.scrollHeight - this.scroller.scrollTop - this.scroller.clientHeight < NEAR_PIXELS;
  }

  /** Show these messages; `stick` goes to the end, `hold` does not, `fresh` is one to point out. */
  show(channel, messages, { stick = false, hold = false, fresh = null } = {}) {
    const follow = stick || (!hold && this.isAtEnd);
    if (channel !== this.channel) this.nodes.clear();
    this.channel = channel;
    const wanted = [];
    let before = null;
    for (const message of messages) {
      if (!before || dayOf(before.ts) !== dayOf(message.ts)) wanted.push(h("div", { class: "day" }, dayName(message.ts)));
      const between = this.between(message, before);
      if (between) wanted.push(between);
      wanted.push(this.nodeOf(message, !between && continues(message, before)));
      before = message;
    }
    const kept = new Set(messages.map((message) => message.ts));
    for (const ts of this.nodes.keys()) if (!kept.has(ts)) this.nodes.delete(ts);
    reconcile(this.container, wanted);
    if (fresh) this.nodes.get(fresh)?.node.classList.add("fresh");
    if (follow) this.toEnd();
  }

  /** Scroll to the end, again when pictures have come. */
  toEnd() {
    const down = () => this.scroller.scrollTo({ top: this.scroller.scrollHeight });
    down();
    for (const image of this.container.querySelectorAll("img:not([data-watched])")) {
      image.dataset.watched = "1";
      if (!image.complete) image.addEventListener("load", () => this.scroller.scrollHeight - this.scroller.scrollTop - this.scroller.clientHeight < 600 && down(), { once: true });
    }
  }

  /** Point at one message. */
  pointAt(ts) {
    const known = this.nodes.get(ts);
    if (!known) return;
    this.container.querySelectorAll(".target").forEach((old) => old.classList.remove("target"));
    known.node.classList.add("target");
    known.node.scrollIntoView({ block: "center" });
  }

  /** Draw again whatever depends on what was read or on the time. */
  forget(ts) {
    this.nodes.delete(ts);
  }

  nodeOf(message, compact) {
    const drawn = JSON.stringify(message);
    const known = this.nodes.get(message.ts);
    // A node that did not change stays as it is: open menus, scroll places and half-typed inputs survive.
    if (known && known.drawn === drawn && known.compact === compact) return known.node;
    const node = messageNode(this.channel, message, { ...this.options(), compact });
    this.nodes.set(message.ts, { node, drawn, compact });
    return node;
  }
}

/** Make the children of `parent` exactly `wanted`, moving as little as possible. */
export function reconcile(parent, wanted) {
  const keep = new Set(wanted);
  for (const child of [...parent.childNodes]) if (!keep.has(child)) child.remove();
  wanted.forEach((node, index) => {
    if (parent.childNodes[index] !== node) parent.insertBefore(node, parent.childNodes[index] ?? null);
  });
}

const dayOf = (ts) => new Date(secondsOf(ts) * 1000).toDateString();

function dayName(ts) {
  const day = dayOf(ts);
  if (day === new Date().toDateString()) return "Today";
  if (day === new Date(Date.now() - 86400000).toDateString()) return "Yesterday";
  return new Date(secondsOf(ts) * 1000).toLocaleDateString([], { weekday: "long", month: "long", day: "numeric" });
}
