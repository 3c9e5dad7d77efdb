// Blocks as DOM nodes: one function per kind.
import { h } from "/page/dom.js";
import { element } from "/page/elements.js";
import { picture } from "/page/files.js";
import { textObject } from "/page/mrkdwn.js";
import { markdown, richText, table } from "/page/richtext.js";

/** All blocks of a message, modal or Home; `surface` as for elements. */
export function blocks(list, surface) {
  return h("div", { class: "blocks" }, list.map((block) => one(block, surface)));
}

function one(block, surface) {
  const make = KINDS[block.type];
  const node = make ? make(block, surface) : h("div", { class: "elsewhere" }, `(${block.type})`);
  node.dataset.block = block.block_id ?? "";
  return node;
}

function section(block, surface) {
  const fields = block.fields?.map((field) => h("div", { class: "body" }, textObject(field)));
  const accessory = block.accessory;
  return h(
    "div",
    { class: "section" },
    h("div", { class: "text" }, block.text ? h("div", { class: "body" }, textObject(block.text)) : null, fields ? h("div", { class: "fields" }, fields) : null),
    accessory ? h("div", { class: "accessory" }, accessory.type === "image" ? smallImage(accessory) : element(accessory, surface)) : null,
  );
}

function smallImage(image) {
  if (!image.slack_file) return h("span", { class: "elsewhere" }, image.alt_text);
  return h("img", { src: `/ui/files/${encodeURIComponent(image.slack_file.id)}`, alt: image.alt_text });
}

function context(block) {
  return h("div", { class: "context body" }, block.elements.map((item) => (item.type === "image" ? smallImage(item) : h("span", {}, textObject(item)))));
}

function image(block) {
  const caption = block.title ? h("figcaption", {}, textObject(block.title)) : null;
  const id = block.slack_file?.id;
  // The page loads nothing from elsewhere: a picture by address is named, not shown.
  const shown = id ? picture({ id, title: block.title?.text ?? block.alt_text }, block.alt_text) : h("div", { class: "elsewhere" }, `Picture at ${block.image_url}: ${block.alt_text}`);
  return h("figure", { class: "block-image" }, caption, shown);
}

function input(block, surface) {
  const label = h("span", { class: "label" }, textObject(block.label), block.optional ? h("span", { class: "optional" }, " (optional)") : null);
  const control = element(block.element, surface, { isInput: !block.dispatch_action });
  const isGroup = ["checkboxes", "radio_buttons"].includes(block.element.type);
  return h(
    isGroup ? "div" : "label",
    { class: "field" },
    label,
    control,
    block.hint ? h("span", { class: "hint" }, textObject(block.hint)) : null,
    h("span", { class: "error", role: "alert", hidden: true }),
  );
}

function chart(block) {
  const series = block.chart.series ?? [];
  const labels = series[0]?.data.map((point) => point.label) ?? [];
  const rows = [["", ...labels], ...series.map((line) => [line.name, ...line.data.map((point) => point.value)])];
  const cells = rows.map((row) => row.map((text) => ({ type: "raw_text", text: String(text) })));
  return h("figure", { class: "block-image" }, h("figcaption", {}, block.title), table({ rows: cells }));
}

const KINDS = {
  section,
  context,
  image,
  input,
  table,
  rich_text: richText,
  data_visualization: chart,
  header: (block) => h("h3", { class: "block-header" }, textObject(block.text)),
  divider: () => h("hr", { class: "divider" }),
  actions: (block, surface) => h("div", { class: "actions" }, block.elements.map((item) => element(item, surface))),
  context_actions: (block, surface) => h("div", { class: "actions" }, block.elements.map((item) => element(item, surface))),
  markdown: (block) => markdown(block.text),
  alert: (block) => h("div", { class: `callout ${block.level ?? ""}` }, textObject(block.text)),
};
