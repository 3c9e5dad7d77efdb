// Buttons, menus and inputs. Each tells the workspace what was done and shows when the app did not answer.
import { h, icon, safeLink } from "/page/dom.js";
import { plain, textObject } from "/page/mrkdwn.js";
import { myChannels, store } from "/page/store.js";

/**
 * One interactive element.
 * `surface` says where it stands: `press(action_id, value)` → answer, `suggest(action_id, typed)` → options, and
 * `state`, a Map of getters for what is chosen in each element.
 */
export function element(spec, surface, { isInput = false } = {}) {
  const make = KINDS[spec.type];
  if (!make) return h("span", { class: "elsewhere" }, `(${spec.type})`);
  return make(spec, surface, isInput);
}

/** Ask before doing, when the app wants that; resolves to whether to go on. */
export function confirmed(confirm) {
  if (!confirm) return Promise.resolve(true);
  const dialog = document.getElementById("confirm");
  return new Promise((resolve) => {
    const answer = (yes) => () => {
      dialog.close();
      resolve(yes);
    };
    dialog.replaceChildren(
      h("header", {}, h("h2", {}, textObject(confirm.title))),
      h("div", { class: "content body" }, textObject(confirm.text)),
      h(
        "footer",
        {},
        h("button", { class: "button", type: "button", onclick: answer(false) }, textObject(confirm.deny)),
        h("button", { class: `button ${confirm.style ?? "primary"}`, type: "button", onclick: answer(true) }, textObject(confirm.confirm)),
      ),
    );
    dialog.oncancel = () => resolve(false);
    dialog.showModal();
    dialog.querySelector("footer .button:last-child").focus();
  });
}

async function press(node, spec, surface, value) {
  if (!(await confirmed(spec.confirm))) return false;
  node.parentElement?.querySelectorAll(".failed").forEach((old) => old.remove());
  node.classList.add("busy");
  const answer = await surface.press(spec.action_id, value);
  node.classList.remove("busy");
  if (answer.error) node.after(h("span", { class: "failed", role: "alert" }, `⚠ ${answer.error}`));
  return !answer.error;
}

function button(spec, surface) {
  const properties = { class: `button ${spec.style ?? ""}`, title: spec.accessibility_label ?? "", data: { action: spec.action_id } };
  if (spec.url) {
    const link = safeLink(spec.url, textObject(spec.text));
    link.className = properties.class;
    link.addEventListener("click", () => surface.press(spec.action_id));
    return link;
  }
  const node = h("button", { ...properties, type: "button" }, textObject(spec.text));
  node.addEventListener("click", () => press(node, spec, surface));
  return node;
}

function choose(spec, surface, isInput, groups, initial, isMultiple) {
  const placeholder = spec.placeholder?.text ?? "Choose…";
  const node = h("select", { class: "select", multiple: isMultiple, "aria-label": placeholder, data: { action: spec.action_id } });
  if (!isMultiple) node.append(h("option", { value: "" }, placeholder));
  for (const group of groups) {
    const options = group.options.map((one) => h("option", { value: one.value, selected: initial.includes(one.value) }, one.label));
    node.append(...(group.label ? [h("optgroup", { label: group.label }, options)] : options));
  }
  const read = () => (isMultiple ? [...node.selectedOptions].map((one) => one.value) : node.value || null);
  surface.state.set(spec.action_id, read);
  if (!isInput) {
    node.addEventListener("change", async () => {
      if (!(await press(node, spec, surface, read()))) node.value = initial[0] ?? "";
    });
  }
  return node;
}

const labelled = (options) => options.map((one) => ({ value: one.value, label: h("span", {}, plain(one.text.text)).textContent }));

function staticSelect(spec, surface, isInput) {
  const isMultiple = spec.type.startsWith("multi_");
  const groups = spec.option_groups
    ? spec.option_groups.map((group) => ({ label: group.label.text, options: labelled(group.options) }))
    : [{ options: labelled(spec.options) }];
  const initial = isMultiple ? (spec.initial_options ?? []) : [spec.initial_option].filter(Boolean);
  return choose(spec, surface, isInput, groups, initial.map((one) => one.value), isMultiple);
}

function peopleOrPlaces(spec, surface, isInput) {
  const isMultiple = spec.type.startsWith("multi_");
  const isUsers = spec.type.includes("users");
  const options = isUsers
    ? [...store.members.values()].map((member) => ({ value: member.id, label: member.real_name }))
    : myChannels().filter((channel) => !channel.is_im).map((channel) => ({ value: channel.id, label: `#${channel.name}` }));
  const key = Object.keys(spec).find((name) => name.startsWith("initial_"));
  return choose(spec, surface, isInput, [{ options }], [spec[key] ?? []].flat(), isMultiple);
}

function externalSelect(spec, surface, isInput) {
  const isMultiple = spec.type.startsWith("multi_");
  let chosen = isMultiple ? [...(spec.initial_options ?? [])] : (spec.initial_option ?? null);
  const list = h("ul", { class: "menu", role: "listbox", hidden: true });
  const input = h("input", {
    class: "input",
    role: "combobox",
    "aria-label": spec.placeholder?.text ?? "Search",
    "aria-expanded": "false",
    placeholder: spec.placeholder?.text ?? "Search…",
    value: isMultiple ? "" : (chosen?.text.text ?? ""),
    autocomplete: "off",
    data: { action: spec.action_id },
  });
  const show = (visible) => {
    list.hidden = !visible;
    input.setAttribute("aria-expanded", String(visible));
    list.classList.toggle("up", input.getBoundingClientRect().bottom > innerHeight - 260);
  };
  const take = (option) => {
    chosen = isMultiple ? [...chosen, option] : option;
    input.value = isMultiple ? chosen.map((one) => one.text.text).join(", ") : option.text.text;
    show(false);
    if (!isInput) press(input, spec, surface, chosen);
  };
  const look = async () => {
    if (input.value.length < (spec.min_query_length ?? 3)) return show(false);
    const typed = input.value;
    const { options = [] } = await surface.suggest(spec.action_id, typed);
    if (typed !== input.value) return undefined;
    const rows = options.map((option) => h("li", { role: "option", onmousedown: () => take(option) }, plain(option.text.text)));
    list.replaceChildren(...(rows.length ? rows : [h("li", { class: "menu-title" }, "Nothing found")]));
    return show(true);
  };
  input.addEventListener("input", look);
  input.addEventListener("focus", () => {
    input.select();
    if ((spec.min_query_length ?? 3) === 0) look();
  });
  input.addEventListener("blur", () => show(false));
  input.addEventListener("keydown", (event) => keyInList(event, list, () => show(false)));
  surface.state.set(spec.action_id, () => chosen);
  return h("span", { class: "combo" }, input, list);
}

/** Arrow keys, Enter and Escape in a list of options. */
export function keyInList(event, list, close) {
  if (list.hidden) return false;
  const options = [...list.querySelectorAll("[role=option]")];
  const at = options.findIndex((option) => option.getAttribute("aria-selected") === "true");
  const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (move && options.length) {
    options[at]?.setAttribute("aria-selected", "false");
    const next = options[(at + move + options.length) % options.length];
    next.setAttribute("aria-selected", "true");
    next.scrollIntoView({ block: "nearest" });
  } else if ((event.key === "Enter" || event.key === "Tab") && at >= 0) {
    options[at].dispatchEvent(new MouseEvent("mousedown", { bubbles: true }));
  } else if (event.key === "Escape") {
    close();
  } else {
    return false;
  }
  event.preventDefault();
  event.stopPropagation();
  return true;
}

function overflow(spec, surface) {
  const details = h("details", { class: "overflow" }, h("summary", { class: "button", "aria-label": "More actions", role: "button" }, icon("more")));
  const items = spec.options.map((option) =>
    h("button", { type: "button", onclick: async () => {
      details.open = false;
      if (option.url) window.open(option.url, "_blank", "noopener");
      await press(details, spec, surface, option.value);
    } }, textObject(option.text)),
  );
  details.append(h("div", { class: "popup" }, items));
  details.addEventListener("focusout", (event) => {
    if (!details.contains(event.relatedTarget)) details.open = false;
  });
  return details;
}

function choices(spec, surface, isInput) {
  const kind = spec.type === "checkboxes" ? "checkbox" : "radio";
  const initial = (spec.initial_options ?? [spec.initial_option].filter(Boolean)).map((option) => option.value);
  const name = `${spec.action_id}-${Math.random()}`;
  const box = (option) => {
    const input = h("input", { type: kind, name, value: option.value, checked: initial.includes(option.value) });
    const what = option.description ? h("span", { class: "what" }, textObject(option.description)) : null;
    return h("label", {}, input, h("span", {}, textObject(option.text), what));
  };
  const node = h("fieldset", { class: "choices" }, spec.options.map(box));
  const read = () => {
    const values = [...node.querySelectorAll("input:checked")].map((one) => one.value);
    return kind === "checkbox" ? values : (values[0] ?? null);
  };
  surface.state.set(spec.action_id, read);
  if (!isInput) node.addEventListener("change", () => press(node, spec, surface, read()));
  return node;
}

const INPUT_TYPES = {
  datepicker: "date", timepicker: "time", datetimepicker: "datetime-local",
  number_input: "number", email_text_input: "email", url_text_input: "url", plain_text_input: "text",
};

function typed(spec, surface, isInput) {
  const isLong = Boolean(spec.multiline);
  const initial = spec.initial_value ?? spec.initial_date ?? spec.initial_time ?? "";
  const node = h(isLong ? "textarea" : "input", {
    class: "input",
    type: isLong ? null : INPUT_TYPES[spec.type],
    step: spec.is_decimal_allowed ? "any" : null,
    placeholder: spec.placeholder?.text ?? null,
    value: initial,
    maxLength: spec.max_length ?? null,
    data: { action: spec.action_id },
  });
  const read = () => (spec.type === "datetimepicker" ? (node.value ? Math.floor(new Date(node.value) / 1000) : null) : node.value || null);
  surface.state.set(spec.action_id, read);
  if (!isInput) node.addEventListener("change", () => press(node, spec, surface, read()));
  return node;
}

const KINDS = {
  button, workflow_button: button, icon_button: button, overflow, checkboxes: choices, radio_buttons: choices,
  static_select: staticSelect, multi_static_select: staticSelect,
  external_select: externalSelect, multi_external_select: externalSelect,
  ...Object.fromEntries(Object.keys(INPUT_TYPES).map((kind) => [kind, typed])),
  ...Object.fromEntries(["users", "channels", "conversations"].map((kind) => [`${kind}_select`, peopleOrPlaces])),
  multi_users_select: peopleOrPlaces, multi_conversations_select: peopleOrPlaces,
};
