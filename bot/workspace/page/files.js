// Files in messages: pictures inline, text as a snippet, the rest by name.
import { h, icon } from "/page/dom.js";

const address = (file) => `/ui/files/${encodeURIComponent(file.id)}`;

/** One shared file. */
export function fileNode(file) {
  if (file.mode === "tombstone") return h("div", { class: "file tombstone" }, "This file was deleted.");
  const name = h("div", { class: "file-name" }, h("span", {}, file.title || file.name));
  if (file.mimetype?.startsWith("image/")) return h("div", { class: "file" }, name, picture(file, file.alt_txt || file.title || file.name));
  if (file.preview !== undefined) return h("div", { class: "file" }, name, snippet(file));
  const size = file.size ? ` · ${bytes(file.size)}` : "";
  return h("div", { class: "file" }, h("a", { class: "plain-file", href: address(file), download: file.name }, icon("file"), h("span", {}, file.title || file.name, h("small", {}, size))));
}

/** A picture that opens large. */
export function picture(file, description) {
  const image = h("img", { src: address(file), alt: description, loading: "lazy", decoding: "async" });
  return h("button", { class: "picture", type: "button", "aria-label": `Enlarge: ${description}`, onclick: () => enlarge(file, description) }, image);
}

function enlarge(file, description) {
  const box = document.getElementById("lightbox");
  box.replaceChildren(
    h("img", { src: address(file), alt: description }),
    h(
      "div",
      { class: "row" },
      h("span", {}, file.title ?? description),
      h("a", { href: address(file), download: file.name ?? "picture.png" }, "Download"),
      h("button", { class: "icon-button", "aria-label": "Close", onclick: () => box.close() }, icon("close")),
    ),
  );
  box.onclick = (event) => event.target === box && box.close();
  box.showModal();
}

function snippet(file) {
  const node = h("div", { class: "snippet" });
  const text = h("pre", { tabIndex: 0 }, file.preview);
  const toggle = h("button", { type: "button", onclick: () => {
    toggle.textContent = node.classList.toggle("open") ? "Show less" : "Show more";
  } }, "Show more");
  const count = file.lines === 1 ? "1 line" : `${file.lines} lines`;
  node.append(
    text,
    h("div", { class: "bar" }, h("span", {}, `${count} · ${bytes(file.size)}`), file.lines > 10 ? toggle : null, h("a", { href: address(file), download: file.name }, "Download")),
  );
  return node;
}

function bytes(count) {
  if (count < 1024) return `${count} B`;
  if (count < 1024 * 1024) return `${(count / 1024).toFixed(1)} KiB`;
  return `${(count / 1024 / 1024).toFixed(1)} MiB`;
}
