/** The form that tries an operation: its parameters, its body, and the response. */
import { showAnswer } from "./answer-view.ts";
import type { BodyForm } from "./body-form.ts";
import { bodyForm } from "./body-form.ts";
import type { Credentials } from "./credentials.ts";
import { securityText } from "./credentials.ts";
import type { Api, Operation, Parameter } from "./document.ts";
import { button, copyButton, h, newId } from "./dom.ts";
import type { Field } from "./fields.ts";
import { parameterField } from "./fields.ts";
import type { Body, Outgoing } from "./outgoing.ts";
import { curlOf, missingIn, outgoing } from "./outgoing.ts";
import { sampleOf } from "./sample.ts";
import { socketView } from "./socket-view.ts";

const places = [
  ["path", "Path"],
  ["query", "Query"],
  ["header", "Headers"],
  ["cookie", "Cookies"],
] as const;

export function tryForm(operation: Operation, api: Api, credentials: Credentials): HTMLElement {
  const fields = operation.parameters.map((parameter) => ({ parameter, field: parameterField(parameter, api) }));
  const body = operation.body === undefined ? undefined : bodyForm(operation.body, api);
  const server = serverChoice(api);
  const form = h("form", { class: "try", "aria-label": "Try it" }, h("h3", {}, "Try it"), server.element);
  if (operation.security.some((needed) => needed.length > 0)) form.append(securityLine(operation, credentials));
  for (const [place, title] of places) {
    const here = fields.filter(({ parameter }) => parameter.place === place);
    if (here.length === 0) continue;
    form.append(h("fieldset", {}, h("legend", {}, title), ...here.map(({ field }) => field.element)));
  }
  if (body !== undefined) form.append(body.element);
  const made = () => requestOf(operation, { api, credentials, server: server.url(), fields, body });
  form.addEventListener("submit", (event) => event.preventDefault());
  const problem = h("p", { role: "alert", class: "problem" });
  const check = (): boolean => {
    const missing = missingIn(operation, entered(fields));
    problem.textContent = problemOf(missing, server.url());
    fields.find(({ parameter: { place, name } }) => place === "path" && missing.includes(name))?.field.control.focus();
    return problem.textContent === "";
  };
  const action = isSocket(operation) ? socketAction(operation, api, made, check) : sendAction(form, made, check);
  form.append(problem, action);
  return form;
}

/** Whether it opens a WebSocket. */
export function isSocket({ responses }: Operation): boolean {
  return responses.some(({ socket }) => socket !== undefined);
}

interface FieldFor {
  readonly parameter: Parameter;
  readonly field: Field;
}

function entered(fields: readonly FieldFor[]) {
  return fields.map(({ parameter: { name, place }, field }) => ({ name, place, texts: field.texts() }));
}

interface Filled {
  readonly api: Api;
  readonly credentials: Credentials;
  readonly server: string;
  readonly fields: readonly FieldFor[];
  readonly body: BodyForm | undefined;
}

function requestOf(operation: Operation, { api, credentials, server, fields, body }: Filled): Outgoing {
  const { schemes } = api;
  const given = { server, entered: entered(fields), body: body?.read(), schemes, credentials: credentials.values };
  return outgoing(operation, given);
}

function problemOf(missing: readonly string[], server: string): string {
  if (missing.length > 0) return `Fill in ${missing.join(", ")}.`;
  if (new URL(server).origin === location.origin) return "";
  return `This page sends to its own host alone, and ${server} is another: copy the request as curl.`;
}

/** The servers of the document, and the host of this page. */
function serverChoice(api: Api): { readonly element: HTMLElement; readonly url: () => string } {
  const listed = api.servers.flatMap(({ url }) => absolute(url, api.url));
  const urls = [...new Set([...listed.filter((url) => new URL(url).origin === location.origin), ...listed])];
  if (!urls.some((url) => new URL(url).origin === location.origin)) urls.unshift(`${location.origin}/`);
  if (urls.length < 2) return { element: h("p", { class: "hint" }, urls[0]), url: () => urls[0] ?? location.origin };
  const id = newId();
  const select = h("select", { id }, ...urls.map((url) => h("option", { value: url }, url)));
  const element = h("div", { class: "field" }, h("label", { for: id }, "Server"), select);
  return { element, url: () => select.value };
}

/** A server whose URL has variables, or is of no HTTP, cannot be tried. */
function absolute(url: string, base: string): readonly string[] {
  try {
    const { protocol, href } = new URL(url, base);
    return /^https?:$/.test(protocol) && !/[{}]|%7B/i.test(href) ? [href] : [];
  } catch {
    return [];
  }
}

function securityLine({ security }: Operation, credentials: Credentials): HTMLElement {
  const text = h("span");
  credentials.watch(() => (text.textContent = securityText(security, credentials.values)));
  return h(
    "p",
    { class: "security" },
    text,
    " ",
    button("Authorize", () => credentials.open()),
  );
}

function socketAction(operation: Operation, api: Api, made: () => Outgoing, check: () => boolean): HTMLElement {
  const socket = operation.responses.find((response) => response.socket !== undefined)?.socket;
  const sent = socket?.client;
  const sample = sent === undefined ? "" : sampleOf(sent, api.resolve);
  const view = socketView(typeof sample === "string" ? sample : JSON.stringify(sample, undefined, 2));
  const connect = () => {
    if (!check()) return;
    const request = made();
    setCookies(request);
    view.open(request.url, socket?.subprotocols ?? []);
  };
  const hint = "A browser sends no header of a page's own with a WebSocket: cookies and the query go along.";
  return h(
    "div",
    {},
    h("p", { class: "buttons" }, button("Connect", connect, { class: "primary" })),
    h("p", { class: "hint" }, hint),
    view.element,
  );
}

function sendAction(form: HTMLFormElement, made: () => Outgoing, check: () => boolean): HTMLElement {
  const box = h("div", { class: "answer" });
  // Only the status: a screen reader does not read the whole body.
  const status = h("p", { class: "unseen", role: "status" });
  let sending: AbortController | undefined;
  const send = h("button", { type: "submit", class: "primary" }, "Send");
  const curl = copyButton("Copy as curl", () => curlOf(made()));
  const run = async () => {
    const own = (sending = new AbortController());
    send.textContent = "Stop";
    const heading = h("h4", { tabindex: "-1" }, "Response");
    box.replaceChildren(heading);
    try {
      status.textContent = "Sending";
      await exchange(box, made(), own.signal, (text) => {
        status.textContent = text;
        heading.focus({ preventScroll: true });
        bringIntoView(heading);
      });
      // Only now it has its height.
      if (document.activeElement === heading) bringIntoView(heading);
    } catch (error) {
      const stopped = own.signal.aborted ? "Stopped." : `Failed: ${error instanceof Error ? error.message : ""}`;
      status.textContent = "";
      box.append(h("p", { class: "problem", role: "alert" }, stopped));
    }
    sending = undefined;
    send.textContent = "Send";
  };
  form.addEventListener("submit", () => {
    if (sending !== undefined) sending.abort();
    else if (check()) void run();
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  return h("div", {}, h("p", { class: "buttons" }, send, curl), status, box);
}

/** On a narrow page, and below a long form, the response would be outside of the window. */
function bringIntoView(heading: HTMLElement): void {
  const { top } = heading.getBoundingClientRect();
  if (top < 0 || top > innerHeight * 0.6) heading.scrollIntoView({ block: "start" });
}

async function exchange(
  box: HTMLElement,
  request: Outgoing,
  signal: AbortSignal,
  onStatus: (text: string) => void,
): Promise<void> {
  setCookies(request);
  const start = performance.now();
  const response = await fetch(request.url, {
    method: request.method,
    headers: request.headers.map(([name, value]) => [name, value]),
    ...(request.body === undefined ? {} : { body: payload(request.body) }),
    signal,
    cache: "no-store",
  });
  onStatus(`Response ${response.status} ${response.statusText}`);
  await showAnswer(box, response, performance.now() - start);
}

function payload(body: Body): BodyInit {
  if (body.kind === "text") return body.text;
  if (body.kind === "file") return body.file;
  const form = new FormData();
  for (const { name, value, type } of body.parts) {
    if (typeof value === "string" && type !== undefined) form.append(name, new Blob([value], { type }));
    else form.append(name, value);
  }
  return form;
}

/** A cookie whose name begins with `__` is taken over HTTPS alone. */
function setCookies({ cookies }: Outgoing): void {
  const secure = location.protocol === "https:" ? "; Secure" : "";
  for (const [name, value] of cookies) document.cookie = `${name}=${value}; Path=/; SameSite=Strict${secure}`;
}
