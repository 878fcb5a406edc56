/** One operation: what it is, what it reads, what it answers, and a form to try it. */
import type { Credentials } from "./credentials.ts";
import type { Api, ApiResponse, Content, Example, Operation, Schema } from "./document.ts";
import type { Child } from "./dom.ts";
import { button, copyButton, disclosure, h, link } from "./dom.ts";
import { inline, prose } from "./prose.ts";
import { statusClass } from "./answer-view.ts";
import { jsonText } from "./schema-text.ts";
import { eventsView, member, schemaView } from "./schema-view.ts";
import { isSocket, tryForm } from "./try-form.ts";

export function operationView(operation: Operation, api: Api, credentials: Credentials): HTMLElement {
  const { method, path, summary, description, isDeprecated, docs, id, reads } = operation;
  const form = tryForm(operation, api, credentials);
  const jump = button("Try it", () => form.scrollIntoView(), { class: "jump" });
  return h(
    "article",
    { "aria-labelledby": "heading" },
    h("h2", { id: "heading", tabindex: "-1" }, summary || `${method} ${path}`),
    h(
      "p",
      { class: "address" },
      methodBadge(operation),
      h("code", {}, path),
      copyButton("Copy", () => path),
      jump,
    ),
    isDeprecated && h("p", {}, h("span", { class: "deprecated" }, "deprecated")),
    description !== "" && prose(description),
    docs !== undefined && h("p", {}, link(docs.url, docs.description || docs.url)),
    h(
      "div",
      { class: "columns" },
      h(
        "div",
        {},
        ...parametersOf(operation, api),
        reads.length > 0 && h("p", { class: "about" }, `Reads of the request too: ${reads.join(", ")}`),
        ...bodyOf(operation, api),
        ...securityOf(operation),
        ...responsesOf(operation, api),
        id !== "" && h("p", { class: "hint" }, "Operation id: ", h("code", {}, id)),
      ),
      form,
    ),
  );
}

export function methodBadge(operation: Operation): HTMLElement {
  const word = isSocket(operation) ? "WS" : operation.method;
  return h("span", { class: `method ${word.toLowerCase()}` }, word);
}

function parametersOf({ parameters }: Operation, api: Api): readonly Child[] {
  if (parameters.length === 0) return [];
  const items = parameters.map(({ name, place, schema, examples, ...rest }) =>
    member(h("span", { class: "name" }, name), schema, api.resolve, {
      ...rest,
      place: `in ${place}`,
      rules: examples.map(({ value }) => `for example ${jsonText(value)}`),
    }),
  );
  return [h("h3", {}, "Parameters"), h("ul", { class: "members" }, ...items)];
}

function bodyOf({ body }: Operation, api: Api): readonly Child[] {
  if (body === undefined) return [];
  const mark = body.isRequired && h("span", { class: "required" }, " required");
  return [h("h3", {}, "Body", mark), ...body.contents.map((content) => contentView(content, api))];
}

function contentView({ type, schema, itemSchema, examples }: Content, api: Api): HTMLElement {
  return h(
    "div",
    { class: "content" },
    h("p", { class: "hint" }, h("code", {}, type)),
    itemSchema === undefined
      ? schemaView(schema, api.resolve)
      : h("div", {}, h("p", { class: "about" }, "A stream of:"), eventsView(itemSchema, api.resolve)),
    ...examples.slice(0, 20).map(exampleView),
  );
}

function exampleView({ name, value }: Example): HTMLElement {
  const text = typeof value === "string" ? value : JSON.stringify(value, undefined, 2);
  return disclosure([name], () => [h("pre", { class: "code", tabindex: "0" }, text)]);
}

function securityOf({ security }: Operation): readonly Child[] {
  if (!security.some((needed) => needed.length > 0)) return [];
  const items = security.map((needed) => {
    const names = needed.map(({ scheme, scopes }) => `${scheme}${scopes.length > 0 ? ` (${scopes.join(", ")})` : ""}`);
    return h("li", {}, names.join(" and ") || "nothing: a credential is optional");
  });
  return [h("h3", {}, "Authorization"), h("ul", { class: "plain" }, ...items)];
}

function responsesOf({ responses }: Operation, api: Api): readonly Child[] {
  if (responses.length === 0) return [];
  // Of many answers, those of a success are read most.
  const isOpen = ({ status }: ApiResponse) => /^[123]/.test(status);
  const views = responses.map((response) =>
    h(
      "li",
      {},
      disclosure(responseHead(response), () => responseParts(response, api), isOpen(response)),
    ),
  );
  return [h("h3", {}, "Responses"), h("ul", { class: "answers" }, ...views)];
}

function responseHead({ status, description }: ApiResponse): readonly Child[] {
  const lines = description.split("\n").filter((line) => line.trim() !== "");
  return [
    h("strong", { class: statusClass(status) }, status),
    h("span", { class: "lines" }, ...lines.map((line) => h("span", {}, ...refusalLine(line)))),
  ];
}

/** `sold_out: There is none left.` is a code and its sentence. */
function refusalLine(line: string): readonly Child[] {
  const found = /^([a-z][a-z0-9_]*): (.*)$/.exec(line);
  return found === null ? inline(line) : [h("code", {}, found[1]), " ", ...inline(found[2] ?? "")];
}

function responseParts({ headers, contents, socket }: ApiResponse, api: Api): readonly Child[] {
  const items = headers.map(({ name, schema, ...rest }) =>
    member(h("span", { class: "name" }, name), schema, api.resolve, rest),
  );
  const side = (title: string, schema: Schema | undefined) =>
    schema === undefined ? [] : [h("p", { class: "about" }, title), schemaView(schema, api.resolve)];
  return [
    ...contents.map((content) => contentView(content, api)),
    ...side("What the client sends:", socket?.client),
    ...side("What the server sends:", socket?.server),
    items.length > 0 && h("ul", { class: "members" }, ...items),
    contents.length + items.length === 0 && socket === undefined && h("p", { class: "hint" }, "No body."),
  ];
}
