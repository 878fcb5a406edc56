/** The fields of a form: one for each parameter, or member of a body's form. */
import type { Parameter, Schema } from "./document.ts";
import { listOf, schemaOf } from "./document.ts";
import { h, newId } from "./dom.ts";
import { inline } from "./prose.ts";
import { isBinary, jsonText, rulesOf, typeText } from "./schema-text.ts";

export interface Field {
  readonly element: HTMLElement;
  /** The control that is focused if something is missing. */
  readonly control: HTMLElement;
  readonly texts: () => readonly string[];
  readonly files: () => readonly File[];
}

export interface FieldOf {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
  readonly description?: string;
  readonly value?: string;
}

export function parameterField({ name, schema, isRequired, description, examples }: Parameter, api: Resolver): Field {
  const [example] = examples;
  const value = example === undefined ? undefined : textFor(example.value);
  return fieldOf({ name, schema, isRequired, description, ...(value === undefined ? {} : { value }) }, api);
}

interface Resolver {
  readonly resolve: (schema: Schema) => Schema;
}

/** A value of the document as one would type it. */
export function textFor(value: unknown): string {
  if (Array.isArray(value)) return value.map(textFor).join("\n");
  return typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);
}

export function fieldOf({ name, schema, isRequired, description = "", value }: FieldOf, { resolve }: Resolver): Field {
  const id = newId();
  const full = resolve(schema);
  const isList = full["type"] === "array";
  const item = isList ? resolve(schemaOf(full["items"] ?? {})) : full;
  const made = controlOf(id, isList, { name, schema: item, isRequired, ...(value === undefined ? {} : { value }) });
  const rules = [typeText(full), ...rulesOf(full)].join(" · ");
  const about = description || (typeof full["description"] === "string" ? full["description"] : "");
  const element = h(
    "div",
    { class: "field" },
    h("label", { for: id }, name, isRequired && h("span", { class: "required" }, " required")),
    made.control,
    h("p", { class: "hint", id: `${id}-hint` }, rules, isList && !isBinary(item) && " · one a line"),
    about !== "" && h("p", { class: "hint" }, ...inline(about.slice(0, 2000))),
  );
  made.control.setAttribute("aria-describedby", `${id}-hint`);
  return { element, ...made };
}

function controlOf(id: string, isList: boolean, { name, schema, value, isRequired }: FieldOf) {
  if (isBinary(schema)) return fileControl(id, isList);
  if (isList) return linesControl(id, value);
  const words = wordsOf(schema);
  if (words.length > 0) return selectControl(id, words, value, isRequired);
  const isNumber = schema["type"] === "integer" || schema["type"] === "number";
  const placeholder = schema["default"] === undefined ? "" : textFor(schema["default"]);
  const inputmode = isNumber ? "decimal" : "text";
  const isSecret = schema["format"] === "password" || /password|secret/i.test(name);
  const type = isSecret ? "password" : "text";
  const attributes = { id, type, inputmode, placeholder, autocomplete: "off", spellcheck: "false" };
  const control = h("input", { ...attributes, value: value ?? "" });
  return { control, texts: () => (control.value === "" ? [] : [control.value]), files: () => [] };
}

function wordsOf(schema: Schema): readonly string[] {
  if (schema["type"] === "boolean") return ["true", "false"];
  const words = [...listOf(schema["enum"]), ...("const" in schema ? [schema["const"]] : [])];
  return words.map((word) => (typeof word === "string" ? word : jsonText(word)));
}

function selectControl(id: string, words: readonly string[], value: string | undefined, isRequired: boolean) {
  const control = h("select", { id }, ...words.map((word) => h("option", { value: word }, word)));
  // The index tells "not sent" from the word "".
  if (!isRequired) control.prepend(h("option", { value: "" }, "(not sent)"));
  control.selectedIndex = 0;
  if (value !== undefined && words.includes(value)) control.value = value;
  const isSent = () => isRequired || control.selectedIndex > 0;
  return { control, texts: () => (isSent() ? [control.value] : []), files: () => [] };
}

function linesControl(id: string, value = "") {
  const control = h("textarea", { id, rows: "2", spellcheck: "false" });
  control.value = value;
  const texts = () => control.value.split("\n").filter((line) => line !== "");
  return { control, texts, files: () => [] };
}

function fileControl(id: string, isMany: boolean) {
  const control = h("input", { id, type: "file" });
  control.multiple = isMany;
  return { control, texts: () => [], files: () => [...(control.files ?? [])] };
}
