// Modals: the topmost view of my stack in a dialog.
import { blocks } from "/page/blocks.js";
import { h, icon } from "/page/dom.js";
import { textObject } from "/page/mrkdwn.js";
import { act, store } from "/page/store.js";

let shown = null;

/** Show whatever modal I have open, or none. */
export function showModal() {
  const dialog = document.getElementById("modal");
  const stack = store.modals[store.me] ?? [];
  const view = stack.at(-1) ?? null;
  if (!view) {
    shown = null;
    if (dialog.open) dialog.close();
    return;
  }
  if (shown?.hash === view.hash && shown?.id === view.id) return;
  const typed = shown?.id === view.id ? typedIn(dialog) : new Map();
  shown = view;
  draw(dialog, view, stack.length > 1);
  restore(dialog, typed);
  if (!dialog.open) dialog.showModal();
  (dialog.querySelector(".content .input, .content select, .content button") ?? dialog.querySelector("footer button"))?.focus();
}

function draw(dialog, view, isOnTop) {
  const state = new Map();
  const surface = {
    state,
    press: (action_id, value) => act({ act: "click", view_id: view.id, action_id, value, state: values(state) }),
    suggest: (action_id, value) => act({ act: "suggest", view_id: view.id, action_id, value }),
  };
  const close = () => act({ act: "close", view_id: view.id });
  const failed = h("span", { class: "failed", role: "alert", hidden: true });
  const submit = view.submit ? h("button", { class: "button primary", type: "button" }, textObject(view.submit)) : null;
  submit?.addEventListener("click", async () => {
    submit.classList.add("busy");
    clearErrors(dialog);
    failed.hidden = true;
    const answer = await act({ act: "submit", view_id: view.id, values: values(state) });
    submit.classList.remove("busy");
    if (answer.payload?.errors) showErrors(dialog, answer.payload.errors);
    else if (answer.error) {
      failed.textContent = `⚠ We could not submit this (${answer.error}).`;
      failed.hidden = false;
    }
  });
  dialog.setAttribute("aria-label", view.title.text);
  dialog.replaceChildren(
    h("header", {}, h("img", { src: "/page/icon.svg", alt: "" }), h("h2", {}, textObject(view.title)), h("button", { class: "icon-button", type: "button", "aria-label": "Close", onclick: close }, icon("close"))),
    h("div", { class: "content" }, blocks(view.blocks, surface)),
    h("footer", {}, failed, h("button", { class: "button", type: "button", onclick: close }, view.close ? textObject(view.close) : isOnTop ? "Back" : "Close"), submit),
  );
  dialog.oncancel = (event) => {
    event.preventDefault();
    close();
  };
}

const values = (state) => Object.fromEntries([...state].map(([name, read]) => [name, read()]));

function typedIn(dialog) {
  return new Map([...dialog.querySelectorAll(".content [data-action]")].map((input) => [input.dataset.action, input.value]));
}

function restore(dialog, typed) {
  for (const input of dialog.querySelectorAll(".content [data-action]")) {
    if (typed.get(input.dataset.action) && "value" in input && input.tagName !== "BUTTON") input.value = typed.get(input.dataset.action);
  }
}

function clearErrors(dialog) {
  for (const error of dialog.querySelectorAll(".field .error")) error.hidden = true;
}

function showErrors(dialog, errors) {
  for (const [blockId, text] of Object.entries(errors)) {
    const field = [...dialog.querySelectorAll("[data-block]")].find((node) => node.dataset.block === blockId);
    const error = field?.querySelector(".error");
    if (!error) continue;
    error.textContent = text;
    error.hidden = false;
  }
}
