// Slack's mrkdwn as DOM nodes. Control sequences (<…>) are read first, as Slack does; everything else is text.
import { h, safeLink } from "/page/dom.js";
import { EMOJI } from "/page/emoji.js";
import { channelName, memberName, store } from "/page/store.js";

const unescape = (text) => text.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");

/** mrkdwn text as nodes. `verbatim` leaves bare addresses alone. */
export function mrkdwn(text, { verbatim = false } = {}) {
  const nodes = [];
  const parts = String(text ?? "").split(/```/);
  parts.forEach((part, index) => {
    const isFence = index % 2 === 1 && index < parts.length - 1;
    if (isFence) nodes.push(h("pre", {}, fenced(part.replace(/^\n/, "").replace(/\n$/, ""))));
    else {
      let outside = index % 2 === 1 ? "```" + part : part;
      if (index > 0 && index % 2 === 0) outside = outside.replace(/^\n/, "");
      if (index < parts.length - 2 && index % 2 === 0) outside = outside.replace(/\n$/, "");
      nodes.push(...lines(outside, verbatim));
    }
  });
  return nodes;
}

/** Plain text with emoji shortcodes. */
export function plain(text, emoji = true) {
  return emoji === false ? [String(text ?? "")] : emojis(String(text ?? ""));
}

/** A text object, of either kind. */
export function textObject(object) {
  if (!object) return [];
  return object.type === "mrkdwn" ? mrkdwn(object.text, object) : plain(object.text, object.emoji);
}

/** A person's name as a mention. */
export function mentionOf(user) {
  return h("span", { class: user === store.me ? "mention me" : "mention" }, `@${memberName(user)}`);
}

function fenced(text) {
  return text.split(/(<[^<>\n]+>)/).map((piece) => (/^<[^<>\n]+>$/.test(piece) ? control(piece.slice(1, -1)) : unescape(piece)));
}

function lines(text, verbatim) {
  const nodes = [];
  let quote = null;
  text.split("\n").forEach((line, index, all) => {
    const quoted = /^(?:&gt;|>) ?(.*)$/.exec(line);
    if (quoted) {
      if (!quote) nodes.push((quote = h("blockquote", {})));
      else quote.append(h("br"));
      quote.append(...inline(quoted[1], verbatim));
      return;
    }
    quote = null;
    nodes.push(...inline(line, verbatim));
    if (index < all.length - 1 && !/^(?:&gt;|>)/.test(all[index + 1])) nodes.push(h("br"));
  });
  return nodes;
}

const TOKEN = new RegExp(
  [
    "<([^<>\\n]+)>", // 1 control sequence
    "`([^`\\n]+)`", // 2 code
    "(?<![\\w*])\\*(?=\\S)([^*\\n]*[^*\\s])\\*(?![\\w*])", // 3 bold
    "(?<![\\w_])_(?=\\S)([^_\\n]*[^_\\s])_(?![\\w_])", // 4 italic
    "(?<![\\w~])~(?=\\S)([^~\\n]*[^~\\s])~(?![\\w~])", // 5 strike
    "(https?://[^\\s<>\"'`*|]+[^\\s<>\"'`*|.,;:!?)\\]}])", // 6 bare address
    ":([a-z0-9_+'-]+):", // 7 emoji
  ].join("|"),
  "g",
);

function inline(text, verbatim) {
  const nodes = [];
  let at = 0;
  for (const found of text.matchAll(TOKEN)) {
    const [whole, sequence, code, bold, italic, strike, address, emoji] = found;
    const node =
      sequence !== undefined ? control(sequence)
      : code !== undefined ? h("code", {}, fenced(code))
      : bold !== undefined ? h("strong", {}, inline(bold, verbatim))
      : italic !== undefined ? h("em", {}, inline(italic, verbatim))
      : strike !== undefined ? h("s", {}, inline(strike, verbatim))
      : address !== undefined ? (verbatim ? unescape(address) : safeLink(unescape(address), unescape(address)))
      : EMOJI.has(emoji) ? glyph(emoji) : null;
    if (node === null) continue;
    nodes.push(unescape(text.slice(at, found.index)), node);
    at = found.index + whole.length;
  }
  nodes.push(unescape(text.slice(at)));
  return nodes.filter((node) => node !== "");
}

function control(sequence) {
  const [target, label] = sequence.split(/\|(.*)/s);
  if (target.startsWith("@")) return mentionOf(target.slice(1));
  if (target.startsWith("#")) {
    const name = channelName(target.slice(1)) ?? label ?? target.slice(1);
    return h("a", { class: "mention", href: `#${encodeURIComponent(target.slice(1))}` }, `#${name}`);
  }
  if (/^!(here|channel|everyone)/.test(target)) return h("span", { class: "mention broadcast" }, `@${target.slice(1)}`);
  if (target.startsWith("!subteam^")) return h("span", { class: "mention" }, unescape(label ?? "@group"));
  if (target.startsWith("!date^")) return dateOf(target, label);
  if (target.startsWith("!")) return `<${unescape(label ?? target)}>`;
  return safeLink(unescape(target), label === undefined ? unescape(target) : inline(label, true));
}

function dateOf(target, label) {
  const [, seconds, format, url] = target.split("^");
  const moment = new Date(Number(seconds) * 1000);
  if (Number.isNaN(moment.getTime())) return unescape(label ?? "");
  const date = { dateStyle: "medium" };
  const written = (format ?? "{date} {time}")
    .replace(/\{date_num\}/g, moment.toISOString().slice(0, 10))
    .replace(/\{date[a-z_]*\}/g, moment.toLocaleDateString([], date))
    .replace(/\{time_secs\}/g, moment.toLocaleTimeString([], { hourCycle: "h23" }))
    .replace(/\{time\}/g, moment.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }))
    .replace(/\{ago\}/g, moment.toLocaleString());
  const shown = h("time", { dateTime: moment.toISOString(), title: moment.toLocaleString() }, written);
  return url ? safeLink(url, shown) : shown;
}

function emojis(text) {
  const shown = (piece) => (piece.startsWith(":") && EMOJI.has(piece.slice(1, -1)) ? glyph(piece.slice(1, -1)) : piece);
  return text.split(/(:[a-z0-9_+'-]+:)/).map(shown).filter((piece) => piece !== "");
}

/** An emoji in its own font: text fonts have some of them in black and white. */
export function glyph(name) {
  return h("span", { class: "emoji", role: "img", "aria-label": name.replaceAll("_", " ") }, EMOJI.get(name));
}
