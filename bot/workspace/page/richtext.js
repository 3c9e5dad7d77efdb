// rich_text, markdown and table blocks as DOM nodes.
import { h, safeLink } from "/page/dom.js";
import { EMOJI } from "/page/emoji.js";
import { glyph, mentionOf, plain } from "/page/mrkdwn.js";
import { channelName } from "/page/store.js";

/** A rich_text block. */
export function richText(block) {
  return h("div", { class: "rich body" }, block.elements.map(part));
}

/** A table block. */
export function table(block) {
  const settings = block.column_settings ?? [];
  const cell = (tag) => (content, column) => {
    const align = settings[column]?.align;
    return h(tag, { class: settings[column]?.is_wrapped ? "wrapped" : "", style: align ? { textAlign: align } : {} }, inCell(content));
  };
  const [head, ...rows] = block.rows;
  return h(
    "div",
    { class: "table-wrap", tabIndex: 0, role: "region", "aria-label": "Table" },
    h("table", { class: "table" }, h("thead", {}, h("tr", {}, head.map(cell("th")))), h("tbody", {}, rows.map((row) => h("tr", {}, row.map(cell("td")))))),
  );
}

/** A markdown block: the standard kind, not mrkdwn. */
export function markdown(text) {
  const nodes = [];
  const lines = text.split("\n");
  let index = 0;
  while (index < lines.length) {
    const line = lines[index];
    if (/^```/.test(line)) {
      const end = lines.findIndex((other, at) => at > index && /^```/.test(other));
      const stop = end < 0 ? lines.length : end;
      nodes.push(h("pre", {}, lines.slice(index + 1, stop).join("\n")));
      index = stop + 1;
    } else if (/^#{1,6} /.test(line)) {
      const level = Math.min(3, /^#+/.exec(line)[0].length);
      nodes.push(h(`h${level}`, {}, inMarkdown(line.replace(/^#+ /, ""))));
      index += 1;
    } else if (/^\s*([-*+]|\d+\.) /.test(line)) {
      const isOrdered = /^\s*\d/.test(line);
      const items = [];
      while (index < lines.length && /^\s*([-*+]|\d+\.) /.test(lines[index])) {
        items.push(h("li", {}, inMarkdown(lines[index].replace(/^\s*([-*+]|\d+\.) /, ""))));
        index += 1;
      }
      nodes.push(h(isOrdered ? "ol" : "ul", {}, items));
    } else if (/^> ?/.test(line)) {
      nodes.push(h("blockquote", {}, inMarkdown(line.replace(/^> ?/, ""))));
      index += 1;
    } else if (/^\|.*\|\s*$/.test(line) && /^\|[\s:|-]+\|\s*$/.test(lines[index + 1] ?? "")) {
      const rows = [];
      while (index < lines.length && /^\|.*\|\s*$/.test(lines[index])) rows.push(lines[index++]);
      nodes.push(markdownTable(rows));
    } else if (/^(---+|\*\*\*+)\s*$/.test(line)) {
      nodes.push(h("hr", { class: "divider" }));
      index += 1;
    } else {
      if (line.trim()) nodes.push(h("p", {}, inMarkdown(line)));
      index += 1;
    }
  }
  return h("div", { class: "markdown body" }, nodes);
}

function markdownTable(rows) {
  const cells = (row) => row.trim().slice(1, -1).split("|").map((text) => text.trim());
  const [head, , ...rest] = rows;
  const line = (tag, row) => h("tr", {}, cells(row).map((text) => h(tag, {}, inMarkdown(text))));
  return h("div", { class: "table-wrap" }, h("table", { class: "table" }, h("thead", {}, line("th", head)), h("tbody", {}, rest.map((row) => line("td", row)))));
}

const MARKDOWN = /`([^`]+)`|\*\*([^*]+)\*\*|(?<![\w*])[*_]([^*_\n]+)[*_](?!\w)|~~([^~]+)~~|\[([^\]]+)\]\(([^)\s]+)\)|(https?:\/\/[^\s<>)]+)/g;

function inMarkdown(text) {
  const nodes = [];
  let at = 0;
  for (const found of text.matchAll(MARKDOWN)) {
    const [whole, code, bold, italic, strike, label, url, address] = found;
    nodes.push(...plain(text.slice(at, found.index)));
    if (code !== undefined) nodes.push(h("code", {}, code));
    else if (bold !== undefined) nodes.push(h("strong", {}, inMarkdown(bold)));
    else if (italic !== undefined) nodes.push(h("em", {}, inMarkdown(italic)));
    else if (strike !== undefined) nodes.push(h("s", {}, inMarkdown(strike)));
    else if (url !== undefined) nodes.push(safeLink(url, label));
    else nodes.push(safeLink(address, address));
    at = found.index + whole.length;
  }
  nodes.push(...plain(text.slice(at)));
  return nodes;
}

function inCell(content) {
  if (content.type === "rich_text") return content.elements.map(part);
  return content.type === "raw_number" ? (content.text ?? String(content.value)) : plain(content.text);
}

function part(element) {
  const inner = (element.elements ?? []).map(piece);
  switch (element.type) {
    case "rich_text_preformatted":
      return h("pre", {}, inner);
    case "rich_text_quote":
      return h("blockquote", {}, inner);
    case "rich_text_list":
      return h(element.style === "ordered" ? "ol" : "ul", { start: element.offset ? element.offset + 1 : null, style: { marginLeft: `${(element.indent ?? 0) * 24}px` } },
        element.elements.map((item) => h("li", {}, item.elements.map(piece))));
    default:
      return h("p", {}, inner);
  }
}

function piece(element) {
  switch (element.type) {
    case "text":
      return styled(element.text, element.style);
    case "link":
      return styled(safeLink(element.url, element.text ?? element.url), element.style);
    case "user":
      return mentionOf(element.user_id);
    case "channel":
      return h("a", { class: "mention", href: `#${element.channel_id}` }, `#${channelName(element.channel_id) ?? element.channel_id}`);
    case "usergroup":
      return h("span", { class: "mention" }, "@group");
    case "broadcast":
      return h("span", { class: "mention broadcast" }, `@${element.range}`);
    case "emoji":
      return EMOJI.has(element.name) ? glyph(element.name) : `:${element.name}:`;
    case "date":
      return h("time", {}, element.fallback ?? new Date(element.timestamp * 1000).toLocaleString());
    default:
      return element.value ?? "";
  }
}

function styled(content, style = {}) {
  let node = content;
  if (style.code) node = h("code", {}, node);
  if (style.bold) node = h("strong", {}, node);
  if (style.italic) node = h("em", {}, node);
  if (style.strike) node = h("s", {}, node);
  if (style.underline) node = h("u", {}, node);
  return node;
}
