// The channel list: what there is, what is unread, who I am, whether the app is there.
import { fill, h, icon } from "/page/dom.js";
import { mrkdwn } from "/page/mrkdwn.js";
import { colourOf } from "/page/message.js";
import { become, myChannels, store, threads, unreadIn, unreadReplies } from "/page/store.js";

/** Draw the list; `view` is what is shown now. */
export function drawSidebar(view) {
  const nav = document.getElementById("sidebar");
  const channels = myChannels();
  const direct = channels.find((channel) => channel.is_im);
  fill(
    nav,
    h("div", { class: "side-top" }, h("img", { src: "/page/icon.svg", alt: "" }), h("div", {}, h("strong", {}, store.team), status())),
    h(
      "div",
      { class: "side-list" },
      item("#threads", icon("threads"), "Threads", unreadThreads(), view.kind === "threads"),
      h("div", { class: "side-title" }, "Channels"),
      channels
        .filter((channel) => !channel.is_im)
        .map((channel) => item(`#${channel.id}`, channel.is_private ? icon("lock") : "#", channel.name, unreadIn(channel.id), view.channel === channel.id && view.kind === "channel")),
      h("div", { class: "side-title" }, "Apps"),
      direct ? item("#app", h("img", { src: "/page/icon.svg", alt: "" }), "Runwatch", unreadIn(direct.id), view.kind === "app") : null,
      latest(),
    ),
    foot(),
  );
}

/** How many threads have something I have not read. */
export function unreadThreads() {
  return threads().filter(({ channel, message }) => unreadReplies(channel, message.ts) > 0).length;
}

/** The threads that moved last, so that an incident is seen wherever one is. */
function latest() {
  const rows = threads().slice(0, LATEST_SHOWN).map(({ channel, message }) => {
    const unread = unreadReplies(channel, message.ts);
    const said = h("span", {}, mrkdwn(message.text || message.files?.[0]?.title || "…")).textContent;
    return h(
      "a",
      { class: unread ? "side-item latest unread" : "side-item latest", href: `#${channel}/p${message.ts.replace(".", "")}/${message.ts}`, title: said },
      colourOf(message) ? h("span", { class: "dot", style: { background: colourOf(message) } }) : null,
      h("span", { class: "name" }, said),
      unread ? h("span", { class: "badge" }, String(unread)) : null,
    );
  });
  return rows.length ? [h("div", { class: "side-title" }, "Latest threads"), rows] : null;
}

const LATEST_SHOWN = 8;

function item(href, glyph, name, unread, isCurrent) {
  if (glyph instanceof Element) glyph.classList.add("glyph");
  else glyph = h("span", { class: "glyph" }, glyph);
  return h(
    "a",
    { class: unread && !isCurrent ? "side-item unread" : "side-item", href, "aria-current": isCurrent ? "true" : null },
    glyph,
    h("span", { class: "name" }, name),
    unread && !isCurrent ? h("span", { class: "badge", "aria-label": `${unread} unread` }, unread > 99 ? "99+" : String(unread)) : null,
  );
}

function status() {
  const isThere = store.mode === "http" || store.connections > 0;
  const words = store.mode === "http" ? "Runwatch by signed HTTP" : isThere ? "Runwatch is connected" : "Runwatch is away";
  return h("span", { class: isThere ? "status online" : "status", title: `${store.connections} Socket Mode connections` }, words);
}

function foot() {
  const people = [...store.members.values()].filter((member) => !member.is_bot);
  const choose = h(
    "select",
    { "aria-label": "You are", onchange: () => become(choose.value) },
    people.map((member) => h("option", { value: member.id, selected: member.id === store.me }, member.is_guest ? `${member.real_name} (guest)` : member.real_name)),
  );
  const isDark = isDarkNow();
  const toggle = h("button", { class: "icon-button", type: "button", title: "Light or dark", "aria-label": isDark ? "Use the light theme" : "Use the dark theme", onclick: () => setTheme(isDark ? "light" : "dark") }, icon(isDark ? "sun" : "moon"));
  return h("div", { class: "side-foot" }, h("label", {}, "You are", choose), toggle);
}

function isDarkNow() {
  const theme = document.documentElement.dataset.theme;
  return theme === "auto" ? matchMedia("(prefers-color-scheme: dark)").matches : theme === "dark";
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  localStorage.setItem("theme", theme);
  dispatchEvent(new Event("hashchange"));
}

document.documentElement.dataset.theme = localStorage.getItem("theme") ?? "auto";
