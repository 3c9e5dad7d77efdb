// Making elements. Text always becomes a text node: nothing that came from a message is ever read as HTML.

/** An element with properties and children; `null` and `false` children are left out. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") element.className = value;
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name === "style") Object.assign(element.style, value);
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && name !== "list" && name !== "form") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Give an element these children and no others; `null` and `false` are left out. */
export function fill(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
}

const SHAPES = {
  reply: "M4 5h16v11H9l-5 4z",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
  close: "M6 6l12 12M18 6L6 18",
  menu: "M4 7h16M4 12h16M4 17h16",
  send: "M4 12l16-8-6 16-3-7z",
  clip: "M20 11l-8.5 8.5a5 5 0 0 1-7-7L13 4a3.4 3.4 0 0 1 5 5l-8.500 8.500a1.700 1.700 0 0 1-2.400-2.400L15 8",
  slash: "M15 4L9 20",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.500 1.500M17.500 17.500L19 19M19 5l-1.500 1.500M6.500 17.500L5 19",
  moon: "M20 14.500A8 8 0 0 1 9.500 4 8 8 0 1 0 20 14.500",
  lock: "M7 11V8a5 5 0 0 1 10 0v3M5 11h14v9H5z",
  eye: "M2 12s4-7 10-7 10 7 10 7-4 7-10 7S2 12 2 12M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6",
  threads: "M4 5h12v9H8l-4 3zM19 9v8l-3 3",
  file: "M6 3h8l5 5v13H6zM14 3v5h5",
  down: "M12 4v14M6 12l6 6 6-6",
};

/** A line drawing from our own small set. */
export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("width", "18");
  svg.setAttribute("height", "18");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", SHAPES[name]);
  path.setAttribute("fill", "none");
  path.setAttribute("stroke", "currentColor");
  path.setAttribute("stroke-width", name === "more" ? "3" : "2");
  path.setAttribute("stroke-linecap", "round");
  path.setAttribute("stroke-linejoin", "round");
  svg.append(path);
  return svg;
}

/** A link that can only lead to the web; anything else stays text. */
export function safeLink(url, ...content) {
  let target;
  try {
    target = new URL(url);
  } catch {
    return h("span", {}, `<${url}>`);
  }
  if (!["http:", "https:", "mailto:"].includes(target.protocol)) return h("span", {}, `<${url}>`);
  if (target.origin === location.origin && target.pathname.startsWith("/archives/")) {
    const [, , channel, message] = target.pathname.split("/");
    const thread = target.searchParams.get("thread_ts") || "";
    return h("a", { href: `/#${channel}/${message}/${thread}`.replace(/\/$/, "") }, content);
  }
  return h("a", { href: target.href, target: "_blank", rel: "noopener noreferrer" }, content);
}

/** Seconds of a message timestamp. */
export const secondsOf = (ts) => Number.parseFloat(ts);

/** Time of day. */
export function clockTime(ts) {
  return new Date(secondsOf(ts) * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
}

/** A whole date with time, for tooltips. */
export function fullTime(ts) {
  return new Date(secondsOf(ts) * 1000).toLocaleString();
}

/** How long ago, in words. */
export function ago(ts) {
  const seconds = Math.max(0, Date.now() / 1000 - secondsOf(ts));
  if (seconds < 10) return "just now";
  if (seconds < 60) return `${Math.floor(seconds)} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
  return new Date(secondsOf(ts) * 1000).toLocaleDateString();
}
