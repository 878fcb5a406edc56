/** The credentials that the reader entered. They are kept in memory: to load the page again forgets them. */
import type { Api, Requirement, Scheme } from "./document.ts";
import { fieldsOf, textOf } from "./document.ts";
import type { Child } from "./dom.ts";
import { button, h, link, newId } from "./dom.ts";
import type { Credential } from "./outgoing.ts";
import { usable } from "./outgoing.ts";
import { prose } from "./prose.ts";

export class Credentials {
  readonly values = new Map<string, Credential>();
  readonly #api: Api;
  readonly #listeners = new Set<() => void>();

  constructor(api: Api) {
    this.#api = api;
  }

  /** Calls the listener now and at each change. */
  watch(listener: () => void): void {
    this.#listeners.add(listener);
    listener();
  }

  changed(): void {
    for (const listener of this.#listeners) listener();
  }

  /** A dialog with a form for each scheme. */
  open(): void {
    const dialog = h("dialog", { "aria-labelledby": "authorize" });
    const form = h("form", {}, h("h2", { id: "authorize" }, "Authorize"));
    const fields = this.#api.schemes.map((scheme) => schemeFields(scheme, this.values.get(scheme.name)));
    form.append(...fields.map(({ element }) => element));
    const close = () => {
      dialog.close();
      dialog.remove();
    };
    const apply = () => {
      this.#api.schemes.forEach(({ name }, place) => this.#set(name, fields[place]?.read()));
      this.changed();
      close();
    };
    const forget = () => {
      this.values.clear();
      this.changed();
      close();
    };
    const note = "Kept in this page's memory alone: to load it again forgets it.";
    form.append(
      h("p", { class: "about" }, note),
      h(
        "p",
        { class: "buttons" },
        h("button", { type: "submit", class: "primary" }, "Apply"),
        button("Forget all", forget),
        button("Cancel", close),
      ),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      apply();
    });
    dialog.addEventListener("cancel", close);
    dialog.append(form);
    document.body.append(dialog);
    dialog.showModal();
  }

  #set(name: string, credential: Credential | undefined): void {
    if (credential === undefined) this.values.delete(name);
    else this.values.set(name, credential);
  }
}

interface SchemeFields {
  readonly element: HTMLElement;
  /** Undefined if nothing was entered. */
  readonly read: () => Credential | undefined;
}

function schemeFields(scheme: Scheme, known: Credential | undefined): SchemeFields {
  const isBasic = scheme.type === "http" && textOf(scheme.fields["scheme"]).toLowerCase() === "basic";
  const secret = entry(isBasic ? "Password" : secretLabel(scheme), "password", known?.secret);
  const user = isBasic ? entry("User", "text", known?.user) : undefined;
  const element = h(
    "fieldset",
    {},
    h("legend", {}, scheme.name),
    h("p", { class: "about" }, howText(scheme)),
    scheme.description !== "" && prose(scheme.description),
    ...flowsOf(scheme),
    user?.element,
    secret.element,
  );
  const read = () => {
    const [name, text] = [user?.input.value, secret.input.value];
    if (text === "" && (name ?? "") === "") return undefined;
    return { secret: text, ...(name === undefined ? {} : { user: name }) };
  };
  return { element, read };
}

function entry(text: string, type: string, value = "") {
  const id = newId();
  const input = h("input", { id, type, autocomplete: "off", spellcheck: "false", value });
  return { input, element: h("div", { class: "field" }, h("label", { for: id }, text), input) };
}

function secretLabel({ type, fields }: Scheme): string {
  return type === "apiKey" ? textOf(fields["name"]) || "Key" : "Token";
}

/** In one sentence, how the credential is sent. */
export function howText({ type, fields }: Scheme): string {
  const name = textOf(fields["name"]);
  if (type === "apiKey" && fields["in"] === "cookie") {
    return `The cookie ${name}. A request that signs in sets it by itself. A script cannot replace one that is HttpOnly.`;
  }
  if (type === "apiKey") return fields["in"] === "query" ? `${name} in the query` : `The header ${name}`;
  const format = textOf(fields["bearerFormat"]);
  if (type === "http") return `Authorization: ${textOf(fields["scheme"])}${format === "" ? "" : ` (${format})`}`;
  return "Authorization: Bearer, with an access token that you have.";
}

function flowsOf({ fields }: Scheme): readonly Child[] {
  const discovery = textOf(fields["openIdConnectUrl"]);
  const flows = Object.entries(fieldsOf(fields["flows"])).map(([name, value]) => {
    const { authorizationUrl, tokenUrl, deviceAuthorizationUrl, scopes } = fieldsOf(value);
    const urls = [authorizationUrl, deviceAuthorizationUrl, tokenUrl].map(textOf).filter(Boolean);
    const names = Object.keys(fieldsOf(scopes)).join(", ");
    return h("li", {}, name, ...urls.flatMap((url) => [" ", link(url, url)]), names !== "" && ` (${names})`);
  });
  return [
    flows.length > 0 && h("ul", { class: "about" }, ...flows),
    discovery !== "" && h("p", { class: "about" }, link(discovery, discovery)),
  ];
}

/** What a request of an operation proves, in words. */
export function securityText(security: readonly Requirement[], values: ReadonlyMap<string, Credential>): string {
  const names = (needed: Requirement) =>
    needed.length === 0 ? "nothing" : needed.map(({ scheme, scopes }) => [scheme, ...scopes].join(" ")).join(" and ");
  const used = usable(security, values);
  return used === undefined ? `Needs ${security.map(names).join(", or ")}` : `Sends ${names(used)}`;
}
