// One message as a node: who, when, what, its files, its thread.
import { ago, clockTime, fullTime, h, icon, secondsOf } from "/page/dom.js";
import { blocks } from "/page/blocks.js";
import { fileNode } from "/page/files.js";
import { mrkdwn } from "/page/mrkdwn.js";
import { act, isReply, memberName, store, unreadReplies } from "/page/store.js";

const COLOURS = ["#c2553b", "#2f7f8f", "#7a52c7", "#3f7d4e", "#b0487f", "#8a6a1f", "#3c66b8"];
const GROUP_SECONDS = 300;

/** A face: the app's mark, or initials on the person's colour. */
export function avatar(user) {
  if (user === store.bot.user) return h("span", { class: "avatar" }, h("img", { src: "/page/icon.svg", alt: "" }));
  const member = store.members.get(user);
  const letters = (member?.real_name ?? "?").split(" ").map((word) => word[0]).join("").slice(0, 2).toUpperCase();
  const sum = [...(user ?? "")].reduce((total, letter) => total * 31 + letter.codePointAt(0), 7);
  const colour = member?.is_bot ? "#6b6978" : COLOURS[sum % COLOURS.length];
  return h("span", { class: "avatar", style: { background: colour }, "aria-hidden": "true" }, letters);
}

/** Whether a message continues the one before it. */
export function continues(message, before) {
  return (
    Boolean(before) &&
    before.user === message.user &&
    !before.is_ephemeral && !message.is_ephemeral &&
    !before.reply_count && !message.blocks && !before.blocks && !message.attachments && !before.attachments &&
    secondsOf(message.ts) - secondsOf(before.ts) < GROUP_SECONDS
  );
}

/** The message as a node. `open(ts)` opens its thread; `inThread` leaves out what leads there. */
export function messageNode(channel, message, { open, compact = false, inThread = false } = {}) {
  const member = store.members.get(message.user);
  const classes = ["message", compact && "compact", message.is_ephemeral && "whisper"].filter(Boolean).join(" ");
  const when = h("time", { dateTime: new Date(secondsOf(message.ts) * 1000).toISOString(), title: fullTime(message.ts) }, clockTime(message.ts));
  const head = h(
    "div",
    { class: "head" },
    h("span", { class: "author" }, member?.real_name ?? memberName(message.user)),
    member?.is_bot ? h("span", { class: "tag" }, "APP") : null,
    member?.is_guest ? h("span", { class: "tag" }, "GUEST") : null,
    when,
    message.edited && message.blocks ? h("span", { class: "edited", title: fullTime(message.edited.ts) }, `updated ${clockTime(message.edited.ts)}`) : null,
  );
  const content = h("div", { class: "content" }, message.is_ephemeral ? onlyYou(message) : null, compact ? null : head, body(message), attachments(message), files(message));
  if (!inThread && message.reply_count) content.append(replies(channel, message, open));
  if (!inThread && message.subtype === "thread_broadcast") content.append(h("button", { class: "replies", type: "button", onclick: () => open(message.thread_ts) }, "In a thread"));
  const node = h("article", { class: classes, data: { ts: message.ts, user: message.user ?? "" } }, compact ? h("span", { class: "avatar" }, clockTime(message.ts)) : avatar(message.user), content);
  if (!message.is_ephemeral && message.subtype !== "tombstone") node.append(tools(channel, message, open, inThread));
  return node;
}

function body(message) {
  if (message.subtype === "tombstone") return h("div", { class: "body tombstone" }, message.text);
  if (message.blocks?.length) return blocks(message.blocks, surfaceOf(message));
  if (!message.text) return null;
  const edited = message.edited ? h("span", { class: "edited", title: fullTime(message.edited.ts) }, " (edited)") : null;
  return h("div", { class: "body" }, mrkdwn(message.text), edited);
}

function surfaceOf(message) {
  const state = new Map();
  const values = () => Object.fromEntries([...state].map(([name, read]) => [name, read()]));
  return {
    state,
    press: (action_id, value) => act({ act: "click", ts: message.ts, action_id, value, state: values() }),
    suggest: (action_id, value) => act({ act: "suggest", ts: message.ts, action_id, value }),
  };
}

function attachments(message) {
  return (message.attachments ?? []).map((one) => {
    const inner = h("div", { class: "inner" });
    if (one.pretext) inner.append(h("div", { class: "body" }, mrkdwn(one.pretext)));
    if (one.title) inner.append(h("div", { class: "attachment-title" }, mrkdwn(one.title)));
    if (one.text) inner.append(h("div", { class: "body" }, mrkdwn(one.text)));
    if (one.fields?.length) inner.append(h("div", { class: "fields" }, one.fields.map((field) => h("div", { class: "body" }, h("strong", {}, field.title), h("br"), mrkdwn(field.value)))));
    if (one.blocks) inner.append(blocks(one.blocks, surfaceOf(message)));
    if (one.footer) inner.append(h("div", { class: "context" }, mrkdwn(one.footer)));
    return h("div", { class: "attachment" }, h("span", { class: "bar", style: { background: barColour(one.color) } }), inner);
  });
}

/** The colour a message shows: of its first attachment's bar; null: it has none. */
export function colourOf(message) {
  return message.attachments?.[0] ? barColour(message.attachments[0].color) : null;
}

function barColour(given) {
  const named = { good: "#2eb67d", warning: "#ecb22e", danger: "#e01e5a" }[given];
  return named ?? (/^#?[0-9a-f]{3,8}$/i.test(given ?? "") ? `#${given.replace("#", "")}` : "#c9c7d3");
}

function files(message) {
  return (message.files ?? []).map(fileNode);
}

function replies(channel, message, open) {
  const unread = unreadReplies(channel, message.ts);
  const count = message.reply_count === 1 ? "1 reply" : `${message.reply_count} replies`;
  return h(
    "button",
    { class: unread ? "replies unread" : "replies", type: "button", data: { unread: String(unread) }, onclick: () => open(message.ts) },
    h("span", { class: "faces" }, (message.reply_users ?? []).slice(0, 4).map(avatar)),
    count,
    h("span", { class: "last", data: { ago: message.latest_reply } }, ago(message.latest_reply)),
  );
}

function onlyYou(message) {
  const dismiss = () => act({ act: "dismiss", ts: message.ts });
  return h("div", { class: "only-you" }, icon("eye"), "Only visible to you ·", h("button", { type: "button", onclick: dismiss }, "Dismiss"));
}

function tools(channel, message, open, inThread) {
  const bar = h("div", { class: "tools", role: "toolbar", "aria-label": "Message actions" });
  const root = isReply(message) ? message.thread_ts : message.ts;
  if (!inThread) bar.append(h("button", { class: "icon-button", type: "button", title: "Reply in thread", "aria-label": "Reply in thread", onclick: () => open(root) }, icon("reply")));
  const link = `${location.origin}/archives/${channel}/p${message.ts.replace(".", "")}`;
  bar.append(h("button", { class: "icon-button", type: "button", title: "Copy link", "aria-label": "Copy link", onclick: () => navigator.clipboard?.writeText(link) }, icon("link")));
  const shortcuts = store.shortcuts.filter((one) => one.type === "message");
  if (shortcuts.length) bar.append(shortcutMenu(message, shortcuts));
  return bar;
}

function shortcutMenu(message, shortcuts) {
  const details = h("details", { class: "overflow" }, h("summary", { class: "icon-button", title: "More actions", "aria-label": "More actions", role: "button" }, icon("more")));
  const run = (callback_id) => () => {
    details.open = false;
    act({ act: "shortcut", callback_id, ts: message.ts });
  };
  details.append(h("div", { class: "popup" }, shortcuts.map((one) => h("button", { type: "button", title: one.description ?? "", onclick: run(one.callback_id) }, one.name))));
  details.addEventListener("focusout", (event) => {
    if (!details.contains(event.relatedTarget)) details.open = false;
  });
  return details;
}
