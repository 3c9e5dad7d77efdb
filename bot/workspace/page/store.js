// What the page knows, kept up to date by the server's stream; and what this browser has read.

export const store = {
  me: localStorage.getItem("me") ?? "U0ALICE",
  team: "",
  bot: { user: "", id: "" },
  connections: 0,
  mode: "socket",
  members: new Map(),
  channels: new Map(),
  messages: new Map(), // channel → Map(ts → message)
  whispers: new Map(), // ts → message only one person sees
  homes: {},
  modals: {},
  commands: [],
  shortcuts: [],
  loaded: false,
};

const listeners = new Set();

/** Hear of every change: `{type, …}`; `reload` means look at everything anew. */
export function onChange(listener) {
  listeners.add(listener);
}

function tell(change) {
  for (const listener of listeners) listener(change);
}

/** Do something as the person chosen; the answer of the workspace. */
export async function act(what) {
  const response = await fetch("/ui/act", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ user: store.me, ...what }),
  });
  return response.json();
}

/** Bring a file; its description, to be said with a message. */
export async function upload(file) {
  const query = new URLSearchParams({ name: file.name, user: store.me });
  const response = await fetch(`/ui/upload?${query}`, { method: "POST", body: file });
  return (await response.json()).file;
}

export const memberName = (id) => store.members.get(id)?.name ?? id;
export const channelName = (id) => store.channels.get(id)?.name;

/** What a channel shows, oldest first: roots, broadcast replies and whispers to me. */
export function shownIn(channel) {
  const said = [...(store.messages.get(channel)?.values() ?? [])].filter(
    (message) => !isReply(message) || message.subtype === "thread_broadcast",
  );
  return [...said, ...whispersIn(channel, null)].sort(byTime);
}

/** A thread: root first, then replies and whispers to me in it. */
export function thread(channel, root) {
  const all = [...(store.messages.get(channel)?.values() ?? [])];
  const said = all.filter((message) => message.ts === root || message.thread_ts === root);
  return [...said, ...whispersIn(channel, root)].sort(byTime);
}

/** Channels I can see, with direct messages last. */
export function myChannels() {
  return [...store.channels.values()].filter((channel) => (channel.is_im ? channel.user === store.me : channel.members.includes(store.me)));
}

/** When a thread moved last: its newest reply, or its root. */
export const movedAt = (message) => message.latest_reply ?? message.ts;

/** Roots in my channels with replies, or that an app marked as an event (an incident nobody answered yet); the last moved first. */
export function threads() {
  return myChannels()
    .flatMap((channel) => [...(store.messages.get(channel.id)?.values() ?? [])].map((message) => ({ channel: channel.id, message })))
    .filter(({ message }) => message.reply_count || (message.metadata && !isReply(message)))
    .sort((a, b) => Number(movedAt(b.message)) - Number(movedAt(a.message)));
}

export const isReply = (message) => Boolean(message.thread_ts) && message.thread_ts !== message.ts;

const byTime = (a, b) => Number(a.ts) - Number(b.ts);

function whispersIn(channel, root) {
  return [...store.whispers.values()].filter(
    (one) => one.channel === channel && one.user_to_see === store.me && (one.thread_ts ?? null) === root,
  );
}

// What was read, per person, in this browser.

const readKey = (place) => `read:${store.me}:${place}`;
const lastRead = (place) => Number(localStorage.getItem(readKey(place)) ?? 0);

/** Everything up to now in this channel or thread has been seen. */
export function markRead(place, ts) {
  if (Number(ts) > lastRead(place)) localStorage.setItem(readKey(place), String(ts));
}

/** When this channel or thread was last read. */
export const readUntil = (place) => lastRead(place);

/** How many messages of a channel are unread. */
export function unreadIn(channel) {
  const seen = lastRead(channel);
  return shownIn(channel).filter((message) => Number(message.ts) > seen && message.user !== store.me).length;
}

/** How many replies of a thread are unread. */
export function unreadReplies(channel, root) {
  const seen = lastRead(root);
  return thread(channel, root).filter((m) => m.ts !== root && Number(m.ts) > seen && m.user !== store.me).length;
}

/** Be somebody else. */
export function become(user) {
  store.me = user;
  localStorage.setItem("me", user);
  tell({ type: "reload", isFirst: true });
}

/** Listen to the workspace for good; loads everything at each (re)connection. */
export function listen() {
  const stream = new EventSource("/ui/stream");
  stream.addEventListener("open", () => load().then(() => tell({ type: "online" })));
  stream.addEventListener("error", () => {
    tell({ type: "offline" });
    if (stream.readyState === EventSource.CLOSED) setTimeout(listen, 1500);
  });
  stream.addEventListener("message", (event) => take(JSON.parse(event.data)));
}

async function load() {
  const state = await (await fetch("/ui/state")).json();
  const isFirst = !store.loaded;
  Object.assign(store, {
    team: state.team,
    bot: state.bot,
    connections: state.connections,
    mode: state.mode,
    members: new Map(state.members.map((member) => [member.id, member])),
    channels: new Map(state.channels.map((channel) => [channel.id, channel])),
    messages: new Map(Object.entries(state.messages).map(([id, list]) => [id, new Map(list.map((m) => [m.ts, m]))])),
    whispers: new Map(state.ephemerals.map((message) => [message.ts, message])),
    homes: state.homes,
    modals: state.modals,
    commands: state.commands,
    shortcuts: state.shortcuts,
    loaded: true,
  });
  if (!store.members.has(store.me)) store.me = "U0ALICE";
  tell({ type: "reload", isFirst });
}

function take(change) {
  switch (change.type) {
    case "message": {
      if (!store.messages.has(change.channel)) store.messages.set(change.channel, new Map());
      const known = store.messages.get(change.channel);
      change.isNew = !known.has(change.message.ts);
      change.isEdited = !change.isNew && known.get(change.message.ts).edited?.ts !== change.message.edited?.ts;
      known.set(change.message.ts, change.message);
      break;
    }
    case "message_deleted":
      store.messages.get(change.channel)?.delete(change.ts);
      break;
    case "ephemeral":
      change.isNew = !store.whispers.has(change.message.ts);
      store.whispers.set(change.message.ts, change.message);
      break;
    case "ephemeral_deleted":
      store.whispers.delete(change.ts);
      break;
    case "home":
      store.homes[change.user] = change.view;
      break;
    case "modals":
      store.modals[change.user] = change.stack;
      break;
    case "app":
      store.connections = change.connections;
      break;
    case "channels":
      load();
      return;
    default:
      break;
  }
  tell(change);
}
