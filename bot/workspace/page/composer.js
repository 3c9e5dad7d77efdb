// Where people write: messages, mentions, slash commands with completion and history, files.
import { h, icon } from "/page/dom.js";
import { keyInList } from "/page/elements.js";
import { act, store, upload } from "/page/store.js";

const HISTORY_KEPT = 50;

/** A composer for a channel, or for a thread when `threadTs` is given. */
export class Composer {
  constructor(slot, onSend) {
    this.slot = slot;
    this.onSend = onSend;
    this.place = null;
    this.history = JSON.parse(localStorage.getItem("history") ?? "[]");
    this.historyAt = null;
    this.pending = [];
    this.text = h("textarea", { rows: 1, "aria-label": "Message" });
    this.menu = h("ul", { class: "menu", role: "listbox", hidden: true });
    this.hint = h("span", { class: "hint" });
    this.sendButton = h("button", { class: "icon-button send", type: "button", title: "Send", "aria-label": "Send", disabled: true }, icon("send"));
    const pick = h("input", { type: "file", hidden: true, multiple: true });
    const clip = h("button", { class: "icon-button", type: "button", title: "Attach a file", "aria-label": "Attach a file" }, icon("clip"));
    this.slashButton = h("button", { class: "icon-button", type: "button", title: "Commands", "aria-label": "Commands" }, icon("slash"));
    slot.replaceChildren(
      h("div", { class: "composer" }, this.menu, this.text, h("div", { class: "row" }, clip, pick, this.slashButton, this.hint, this.sendButton)),
    );
    clip.addEventListener("click", () => pick.click());
    pick.addEventListener("change", () => this.attach([...pick.files]).then(() => (pick.value = "")));
    this.slashButton.addEventListener("click", () => this.write("/"));
    this.sendButton.addEventListener("click", () => this.send());
    this.text.addEventListener("input", () => this.changed());
    this.text.addEventListener("keydown", (event) => this.key(event));
    this.text.addEventListener("blur", () => (this.menu.hidden = true));
  }

  /** Write to this channel (and thread). */
  setPlace({ channel, threadTs = null, label, readOnly = null }) {
    this.place = { channel, threadTs };
    this.slot.hidden = Boolean(readOnly);
    this.text.setAttribute("aria-label", threadTs ? "Reply" : "Message");
    this.text.placeholder = threadTs ? "Reply…" : `Message ${label}`;
    this.slashButton.hidden = Boolean(threadTs);
    this.idleHint = threadTs ? "In threads write @runwatch loss run42" : "/ for commands · ↑ for the last one";
    this.changed();
  }

  /** Put this text there, ready to go on writing. */
  write(text) {
    this.text.value = text;
    this.text.focus();
    this.text.setSelectionRange(text.length, text.length);
    this.changed();
  }

  async attach(files) {
    for (const file of files) this.pending.push(await upload(file));
    this.changed();
    this.text.focus();
  }

  changed() {
    this.text.style.height = "auto";
    this.text.style.height = `${this.text.scrollHeight}px`;
    this.sendButton.disabled = !this.text.value.trim() && !this.pending.length;
    this.hint.textContent = this.pending.length ? `📎 ${this.pending.map((file) => file.name).join(", ")}` : this.idleHint;
    this.complete();
  }

  key(event) {
    if (event.key === "Enter" && this.isWhole()) this.menu.hidden = true;
    if (keyInList(event, this.menu, () => (this.menu.hidden = true))) return;
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      this.send();
    } else if (event.key === "ArrowUp" && (this.text.value === "" || this.historyAt !== null)) {
      this.recall(1, event);
    } else if (event.key === "ArrowDown" && this.historyAt !== null) {
      this.recall(-1, event);
    }
  }

  /** Whether the chosen command stands there already: then Enter sends it rather than completing it. */
  isWhole() {
    const chosen = this.menu.querySelector("[aria-selected=true] b");
    return !this.menu.hidden && chosen?.textContent === this.text.value && this.text.value.startsWith("/");
  }

  recall(step, event) {
    const at = (this.historyAt ?? -1) + step;
    if (at >= this.history.length) return;
    event.preventDefault();
    this.historyAt = at < 0 ? null : at;
    this.write(at < 0 ? "" : this.history[at]);
    this.menu.hidden = true;
  }

  async send() {
    const text = this.text.value.trim();
    if (!text && !this.pending.length) return;
    const { channel, threadTs } = this.place;
    const files = this.pending.map((file) => file.id);
    this.pending = [];
    this.historyAt = null;
    if (text) this.history = [text, ...this.history.filter((one) => one !== text)].slice(0, HISTORY_KEPT);
    localStorage.setItem("history", JSON.stringify(this.history));
    this.write("");
    this.onSend();
    const command = /^(\/\S+)\s*([\s\S]*)$/.exec(text);
    const answer = command
      ? await act({ act: "slash", channel, command: command[1], text: command[2].trim(), thread_ts: threadTs })
      : await act({ act: "say", channel, text: encode(text), thread_ts: threadTs, files });
    if (answer.ok === false) this.hint.textContent = `⚠ ${answer.error}`;
  }

  complete() {
    const upTo = this.text.value.slice(0, this.text.selectionStart);
    const command = /^\/(\S*)$/.exec(upTo);
    const mention = /(?:^|\s)@([\w.-]*)$/.exec(upTo);
    if (command && !this.place?.threadTs) this.offer("Commands and shortcuts", commandsFor(command[1]), (one) => this.start(one));
    else if (mention) this.offer("People", peopleFor(mention[1]), (one) => this.write(`${this.text.value.slice(0, upTo.length - mention[1].length)}${one.command.slice(1)} `));
    else this.menu.hidden = true;
  }

  /** A command waits for its words; a shortcut starts at once. */
  start(one) {
    this.write(one.callback_id ? "" : `${one.command} `);
    if (one.callback_id) act({ act: "shortcut", callback_id: one.callback_id });
  }

  offer(title, found, take) {
    const rows = found.map((one, index) =>
      h(
        "li",
        { role: "option", "aria-selected": String(index === 0), onmousedown: (event) => {
          event.preventDefault();
          take(one);
        } },
        h("b", {}, one.command),
        h("span", { class: "usage" }, one.usage_hint ?? ""),
        one.description ? h("span", { class: "what" }, one.description) : null,
      ),
    );
    this.menu.replaceChildren(h("li", { class: "menu-title", role: "presentation" }, title), ...rows);
    this.menu.hidden = rows.length === 0 || document.activeElement !== this.text;
  }
}

function commandsFor(typed) {
  const shortcuts = store.shortcuts.filter((one) => one.type === "global").map((one) => ({ ...one, command: one.name }));
  const begins = (one) => one.command.replace("/", "").toLowerCase().startsWith(typed.toLowerCase());
  const found = [...store.commands, ...shortcuts].filter(begins);
  const whole = found.findIndex((one) => one.command === `/${typed}`);
  return whole > 0 ? [found[whole], ...found.filter((_, place) => place !== whole)] : found;
}

function peopleFor(typed) {
  const people = [...store.members.values()].filter((member) => member.name !== "slackbot" && member.name.startsWith(typed));
  return people.map((member) => ({ command: `@${member.name}`, description: member.real_name }));
}

/** What a person typed as Slack sends it: control characters escaped, names as ids. */
function encode(text) {
  const escaped = text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const byName = new Map([...store.members.values()].map((member) => [member.name, member.id]));
  return escaped.replace(/(^|[\s(])@([\w.-]+)/g, (whole, before, name) => {
    if (byName.has(name)) return `${before}<@${byName.get(name)}>`;
    return ["here", "channel", "everyone"].includes(name) ? `${before}<!${name}>` : whole;
  });
}
