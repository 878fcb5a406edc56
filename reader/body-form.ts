/** The part of a form where a request's body is entered. */
import type { Api, Content, Operation } from "./document.ts";
import { fieldsOf, listOf, schemaOf, textOf } from "./document.ts";
import type { Child } from "./dom.ts";
import { button, h, newId } from "./dom.ts";
import type { Field } from "./fields.ts";
import { fieldOf, textFor } from "./fields.ts";
import type { Body, Part } from "./outgoing.ts";
import { sampleOf } from "./sample.ts";
import { mergedOf } from "./schema-facts.ts";
import { isBinary } from "./schema-text.ts";

export interface BodyForm {
  readonly element: HTMLElement;
  /** Undefined if nothing was entered. */
  readonly read: () => Body | undefined;
}

interface Editor {
  readonly children: readonly Child[];
  readonly read: () => Body | undefined;
}

const isJson = (type: string) => /[/+]json\b/.test(type);
const isForm = (type: string) => /^(multipart\/form-data|application\/x-www-form-urlencoded)\b/.test(type);

export function bodyForm(body: NonNullable<Operation["body"]>, api: Api): BodyForm {
  const element = h(
    "fieldset",
    {},
    h("legend", {}, "Body", body.isRequired && h("span", { class: "required" }, " required")),
  );
  const place = h("div");
  const editors = new Map<Content, Editor>();
  let current: Editor = { children: [], read: () => undefined };
  const show = (content: Content) => {
    current = editors.get(content) ?? editorOf(content, body.isRequired, api);
    editors.set(content, current);
    place.replaceChildren(...current.children.filter((child) => child !== undefined && child !== false));
  };
  const [first] = body.contents;
  if (first !== undefined) show(first);
  element.append(typeChoice(body.contents, show), place);
  return { element, read: () => current.read() };
}

function typeChoice(contents: readonly Content[], show: (content: Content) => void): HTMLElement {
  if (contents.length < 2) return h("p", { class: "hint" }, contents[0]?.type ?? "");
  const id = newId();
  const select = h("select", { id }, ...contents.map(({ type }) => h("option", {}, type)));
  select.addEventListener("change", () => {
    const chosen = contents[select.selectedIndex];
    if (chosen !== undefined) show(chosen);
  });
  return h("div", { class: "field" }, h("label", { for: id }, "Content type"), select);
}

function editorOf(content: Content, isRequired: boolean, api: Api): Editor {
  if (isForm(content.type)) return formEditor(content, api);
  if (isJson(content.type) || content.type.startsWith("text/")) return textEditor(content, isRequired, api);
  return fileEditor(content);
}

function textEditor({ type, schema, examples }: Content, isRequired: boolean, api: Api): Editor {
  const id = newId();
  const area = h("textarea", { id, rows: "10", spellcheck: "false", class: "code", "aria-label": `Body, ${type}` });
  const hint = h("p", { class: "hint", role: "status" });
  const printed = (value: unknown) => (isJson(type) ? JSON.stringify(value, undefined, 2) : textFor(value));
  const [example] = examples;
  const isSampled = isRequired && isJson(type);
  area.value =
    example === undefined ? (isSampled ? printed(sampleOf(schema, api.resolve)) : "") : printed(example.value);
  area.rows = Math.min(20, Math.max(5, area.value.split("\n").length + 1));
  const check = () => (hint.textContent = isJson(type) ? jsonFault(area.value) : "");
  area.addEventListener("input", check);
  const set = (value: unknown) => {
    area.value = printed(value);
    check();
  };
  const starts = examples.slice(0, 20).map(({ name, value }) => button(name, () => set(value)));
  if (isJson(type)) starts.push(button("From the schema", () => set(sampleOf(schema, api.resolve))));
  return {
    children: [area, hint, starts.length > 1 || !isSampled ? h("p", { class: "buttons small" }, ...starts) : undefined],
    read: () => (area.value === "" ? undefined : { kind: "text", type, text: area.value }),
  };
}

function jsonFault(text: string): string {
  try {
    if (text.trim() !== "") JSON.parse(text);
    return "";
  } catch (error) {
    return `Not JSON: ${error instanceof Error ? error.message : ""}`;
  }
}

function fileEditor({ type }: Content): Editor {
  // A range such as */* is no type to send.
  const sent = (file: File) => (type.includes("*") ? file.type || "application/octet-stream" : type);
  const field = fieldOf({ name: "File", schema: { type: "string", format: "binary" }, isRequired: false }, plain);
  const read = (): Body | undefined => {
    const [file] = field.files();
    return file === undefined ? undefined : { kind: "file", type: sent(file), file };
  };
  return { children: [field.element], read };
}

const plain = { resolve: (schema: Content["schema"]) => schema };

function formEditor({ type, schema, examples }: Content, api: Api): Editor {
  const full = mergedOf(schema, api.resolve);
  const required = new Set(listOf(full["required"]));
  const example = fieldsOf(examples[0]?.value);
  const fields = Object.entries(fieldsOf(full["properties"])).map(([name, value]) => {
    const given = Object.hasOwn(example, name) ? { value: textFor(example[name]) } : {};
    const member = schemaOf(value);
    return { name, member, field: fieldOf({ name, schema: member, isRequired: required.has(name), ...given }, api) };
  });
  const parts = () => fields.flatMap(({ name, member, field }) => partsOf(name, field, mergedOf(member, api.resolve)));
  const read = (): Body => {
    if (type.startsWith("multipart/")) return { kind: "parts", type, parts: parts() };
    const texts = parts().filter((part): part is Part & { value: string } => typeof part.value === "string");
    return { kind: "text", type, text: String(new URLSearchParams(texts.map(({ name, value }) => [name, value]))) };
  };
  const children = fields.map(({ field }) => field.element);
  return { children: children.length > 0 ? children : [h("p", { class: "hint" }, "No field is described.")], read };
}

function partsOf(name: string, field: Field, schema: Content["schema"]): readonly Part[] {
  if (isBinary(schema)) return field.files().map((value) => ({ name, value }));
  const json = isJson(textOf(schema["contentMediaType"])) || schema["type"] === "object";
  const type = json ? { type: "application/json" } : {};
  return [
    ...field.texts().map((value) => ({ name, value, ...type })),
    ...field.files().map((value) => ({ name, value })),
  ];
}
