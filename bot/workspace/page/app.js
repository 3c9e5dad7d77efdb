// The page: which place is shown, and what follows when the workspace changes.
import { blocks } from "/page/blocks.js";
import { Composer } from "/page/composer.js";
import { ago, fill, h, icon } from "/page/dom.js";
import { messageNode } from "/page/message.js";
import { showModal } from "/page/modal.js";
import { drawSidebar, unreadThreads } from "/page/sidebar.js";
import {
  act, channelName, isReply, listen, markRead, memberName, movedAt, myChannels, onChange, readUntil, shownIn, store, thread, threads, unreadIn, unreadReplies,
} from "/page/store.js";
import { Timeline } from "/page/timeline.js";

const $ = (id) => document.getElementById(id);
const view = { kind: "channel", channel: null, tab: "home" };
const side = { channel: null, root: null, place: null };
let unreadFrom = 0;

const timelineBox = $("timeline");
const newLine = (message, before) =>
  unreadFrom && Number(message.ts) > unreadFrom && before && Number(before.ts) <= unreadFrom ? h("div", { class: "new-line" }, "New") : null;
const channelLine = new Timeline(timelineBox, { options: () => ({ open: (ts) => openThread(view.channel, ts) }), between: newLine });
const threadBox = h("div", { class: "thread-list" });
const threadLine = new Timeline(threadBox, {
  options: () => ({ inThread: true }),
  between: (_message, before) => (before && before.ts === side.root ? h("div", { class: "thread-count" }, repliesIn(side)) : null),
});
const composer = new Composer($("composer"), () => channelLine.toEnd());
const threadSlot = h("div", { class: "composer-slot" });
const threadComposer = new Composer(threadSlot, () => threadLine.toEnd());

function repliesIn({ channel, root }) {
  const count = thread(channel, root).length - 1;
  return count === 1 ? "1 reply" : `${count} replies`;
}

/** #CHANNEL, #CHANNEL/pTS[/THREAD], #threads, #app. */
function route() {
  if (!store.loaded) return;
  const [place, message, root] = location.hash.slice(1).split("/");
  const mine = myChannels();
  $("app").classList.remove("with-sidebar");
  if (place === "threads") view.kind = "threads";
  else if (place === "app") Object.assign(view, { kind: "app", channel: mine.find((channel) => channel.is_im)?.id });
  else {
    const wanted = mine.find((channel) => channel.id === decodeURIComponent(place ?? "")) ?? mine.find((channel) => channel.name === "training") ?? mine[0];
    if (wanted.is_im) Object.assign(view, { kind: "app", channel: wanted.id, tab: "messages" });
    else Object.assign(view, { kind: "channel", channel: wanted.id });
  }
  unreadFrom = view.kind === "channel" ? readUntil(view.channel) : 0;
  if (view.kind === "app" && view.tab === "home") act({ act: "open_home" });
  fill(timelineBox);
  channelLine.nodes.clear();
  draw({ stick: true });
  if ($("composer").hidden) timelineBox.scrollTo({ top: 0 }); // threads and Home are read from their top
  const ts = message?.startsWith("p") ? `${message.slice(1, -6)}.${message.slice(-6)}` : null;
  if (ts && !root) channelLine.pointAt(ts);
  if (root) openThread(view.channel, root, root.replace(".", "") === message?.slice(1) ? null : ts);
  else if (side.root && place !== side.place) closeThread();
  side.place = place;
}

function draw(how = {}) {
  drawHeader();
  if (view.kind === "threads") drawThreads();
  else if (view.kind === "app" && view.tab === "home") drawHome();
  else drawChannel(how);
  drawThread(how);
  drawSidebar(view);
  drawTitle();
}

function drawChannel({ stick = false, fresh = null } = {}) {
  const messages = shownIn(view.channel);
  const wasAtEnd = channelLine.isAtEnd;
  if (!messages.length) fill(timelineBox, emptyChannel());
  else channelLine.show(view.channel, messages, { stick, fresh });
  if (stick || wasAtEnd) $("jump").hidden = true;
  else if (fresh && messages.at(-1).ts === fresh) $("jump").hidden = false;
  if (document.hasFocus() && messages.length && (stick || wasAtEnd)) markRead(view.channel, messages.at(-1).ts);
  const label = view.kind === "app" ? "Runwatch" : `#${channelName(view.channel)}`;
  if (composer.place?.channel !== view.channel || $("composer").hidden) composer.setPlace({ channel: view.channel, label });
}

function emptyChannel() {
  const examples = store.commands.slice(0, 5).map((one) => h("button", { class: "chip", type: "button", onclick: () => composer.write(`${one.command} `) }, one.command));
  const isMember = store.channels.get(view.channel)?.members.includes(store.bot.user);
  const words = isMember
    ? "When a training run goes wrong, its incident appears here with its thread. Until then, ask:"
    : "Runwatch is not a member here, so incidents appear elsewhere. Commands work all the same:";
  return h(
    "div",
    { class: "empty" },
    h("img", { src: "/page/icon.svg", alt: "" }),
    h("h2", {}, view.kind === "app" ? "Runwatch and you" : `#${channelName(view.channel)} is quiet`),
    h("p", {}, words),
    h("div", { class: "chips" }, examples),
  );
}

function drawHome() {
  const home = store.homes[store.me];
  $("composer").hidden = true;
  $("jump").hidden = true;
  if (!home) {
    fill(timelineBox, h("div", { class: "empty" }, h("img", { src: "/page/icon.svg", alt: "" }), h("h2", {}, "Home"), h("p", {}, "Runwatch has not drawn your Home yet.")));
    return;
  }
  const shown = timelineBox.querySelector(".home");
  if (shown?.dataset.hash === home.hash) return;
  // Like Slack, a Home that changes leaves what somebody types alone.
  const typing = shown?.querySelector("input:focus, textarea:focus, select:focus");
  if (typing && shown.dataset.view === home.id) {
    typing.addEventListener("blur", () => setTimeout(drawSoon, 150), { once: true });
    return;
  }
  const state = new Map();
  const surface = {
    state,
    press: (action_id, value) => act({ act: "click", view_id: home.id, action_id, value }),
    suggest: (action_id, value) => act({ act: "suggest", view_id: home.id, action_id, value }),
  };
  fill(timelineBox, h("div", { class: "home", data: { view: home.id, hash: home.hash } }, blocks(home.blocks, surface)));
}

function drawThreads() {
  $("composer").hidden = true;
  $("jump").hidden = true;
  const all = threads().slice(0, 40);
  if (!all.length) {
    fill(timelineBox, h("div", { class: "empty" }, h("h2", {}, "No threads yet"), h("p", {}, "Each incident is one thread. They gather here, the newest first.")));
    return;
  }
  fill(timelineBox, h("div", { class: "cards" }, all.map(card)));
}

function card({ channel, message }) {
  const unread = unreadReplies(channel, message.ts);
  const whole = thread(channel, message.ts);
  const last = whole.slice(1).slice(-2);
  const open = () => openThread(channel, message.ts);
  return h(
    "section",
    { class: unread ? "card unread" : "card" },
    h("div", { class: "card-head" }, h("strong", {}, `#${channelName(channel) || "Runwatch"}`), h("span", {}, ago(movedAt(message))), unread ? h("span", { class: "badge" }, `${unread} new`) : null),
    messageNode(channel, { ...message, reply_count: 0 }, { open, inThread: true }),
    last.map((reply) => messageNode(channel, reply, { open, inThread: true })),
    h("button", { class: "replies open", type: "button", onclick: open }, whole.length > 3 ? `Open all ${whole.length - 1} replies` : "Open the thread"),
  );
}

function openThread(channel, root, target = null) {
  Object.assign(side, { channel, root });
  threadLine.nodes.clear();
  const close = h("button", { class: "icon-button", type: "button", title: "Close", "aria-label": "Close the thread", onclick: closeThread }, icon("close"));
  fill($("thread"), h("div", { class: "thread-head" }, h("h2", {}, "Thread"), h("span", { class: "where" }, `#${channelName(channel) || "Runwatch"}`), close), threadBox, threadSlot);
  $("thread").hidden = false;
  $("app").classList.add("with-thread");
  fill(threadBox);
  threadComposer.setPlace({ channel, threadTs: root, label: "thread" });
  const isFirstLook = !readUntil(root);
  draw({ stick: !target && !isFirstLook, hold: isFirstLook });
  if (target) threadLine.pointAt(target);
  else if (isFirstLook) threadBox.scrollTo({ top: 0 }); // a thread never read begins at its beginning
  threadComposer.text.focus({ preventScroll: true });
}

function closeThread() {
  side.root = null;
  $("thread").hidden = true;
  $("app").classList.remove("with-thread");
  draw();
}

function drawThread(how = {}) {
  if (!side.root) return;
  const messages = thread(side.channel, side.root);
  if (!messages.length) return closeThread();
  threadLine.show(side.channel, messages, how);
  if (document.hasFocus()) {
    markRead(side.root, messages.at(-1).ts);
    channelLine.forget(side.root);
    if (view.kind === "channel" && view.channel === side.channel) channelLine.show(view.channel, shownIn(view.channel));
  }
  return undefined;
}

function drawHeader() {
  const unread = myChannels().filter((channel) => channel.id !== view.channel && unreadIn(channel.id)).length + unreadThreads();
  const menu = h("button", { class: "icon-button menu-button", type: "button", "aria-label": "Channels", onclick: () => $("app").classList.add("with-sidebar") }, icon("menu"), unread ? h("span", { class: "badge" }, String(unread)) : null);
  if (view.kind === "threads") fill($("header"), menu, h("h1", {}, "Threads"), h("span", { class: "topic" }, "Every incident's thread, the newest first"));
  else if (view.kind === "app") {
    const tab = (name, label) => h("button", { role: "tab", type: "button", "aria-selected": String(view.tab === name), onclick: () => {
      view.tab = name;
      route();
    } }, label);
    fill($("header"), menu, h("h1", {}, "Runwatch"), h("div", { class: "tabs", role: "tablist" }, tab("home", "Home"), tab("messages", "Messages")));
  } else {
    const channel = store.channels.get(view.channel);
    const count = channel.members.length;
    fill($("header"), menu, h("h1", {}, channel.is_private ? "🔒 " : "# ", channel.name), h("span", { class: "topic" }, channel.topic.value), channel.is_archived ? h("span", { class: "tag" }, "ARCHIVED") : null, h("span", { class: "count" }, `${count} members`));
  }
}

function drawTitle() {
  const unread = unreadThreads();
  const place = view.kind === "threads" ? "Threads" : view.kind === "app" ? "Runwatch" : `#${channelName(view.channel)}`;
  document.title = `${unread ? `(${unread}) ` : ""}${place} · ${store.team}`;
}

function changed(change) {
  switch (change.type) {
    case "reload":
      if (!store.channels.get(view.channel) || change.isFirst || !myChannels().some((channel) => channel.id === view.channel)) route();
      else draw({ stick: false });
      showModal();
      break;
    case "offline":
      $("banner").textContent = "The workspace does not answer. Trying again…";
      $("banner").hidden = false;
      break;
    case "online":
      $("banner").hidden = true;
      break;
    case "modals":
      if (change.user === store.me) showModal();
      break;
    case "message":
    case "ephemeral": {
      const { message } = change;
      if (change.isNew && isReply(message)) channelLine.forget(message.thread_ts);
      if (change.isNew && message.user !== store.me && document.hasFocus()) $("announcer").textContent = `${memberName(message.user)}: ${message.text ?? ""}`.slice(0, 200);
      drawSoon(change.isNew || change.isEdited ? message.ts : null, change.isNew && message.user === store.me);
      break;
    }
    case "file":
      break;
    default:
      drawSoon();
  }
}

// Many changes at once are one drawing.
let waiting = null;
function drawSoon(fresh = null, stick = false) {
  const first = waiting === null;
  waiting = { fresh: fresh ?? waiting?.fresh, stick: stick || Boolean(waiting?.stick) };
  if (!first) return;
  setTimeout(() => {
    const how = waiting;
    waiting = null;
    draw(how);
  }, 30);
}

$("jump").addEventListener("click", () => {
  channelLine.toEnd();
  $("jump").hidden = true;
});
timelineBox.addEventListener("scroll", () => {
  if (view.kind === "threads" || !store.loaded || !channelLine.isAtEnd || !document.hasFocus()) return;
  const newest = shownIn(view.channel).at(-1);
  $("jump").hidden = true;
  if (newest && Number(newest.ts) > readUntil(view.channel)) {
    markRead(view.channel, newest.ts);
    drawSidebar(view);
  }
}, { passive: true });
$("scrim").addEventListener("click", () => $("app").classList.remove("with-sidebar"));
addEventListener("hashchange", route);
addEventListener("focus", () => store.loaded && draw());
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && side.root && !document.querySelector("dialog[open]")) closeThread();
});
setInterval(() => {
  for (const node of document.querySelectorAll("[data-ago]")) node.textContent = ago(node.dataset.ago);
}, 10_000);
onChange(changed);
listen();
