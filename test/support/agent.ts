/** A browser that is a jar of cookies, by origin: it follows redirects and sends forms. */
export class Agent {
  readonly #jars = new Map<string, Map<string, string>>();

  async fetch(address: string | URL, init: RequestInit = {}): Promise<Response> {
    const url = new URL(address);
    const jar = this.#jars.get(url.origin) ?? new Map<string, string>();
    this.#jars.set(url.origin, jar);
    const cookie = [...jar].map((pair) => pair.join("=")).join("; ");
    const response = await fetch(url, { ...init, redirect: "manual", headers: { ...init.headers, cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]*)=([^;]*)/.exec(line) ?? [];
      if (value === "") jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  /** The page at the end of the redirects. */
  async open(address: string | URL, init?: RequestInit): Promise<{ readonly url: URL; readonly text: string }> {
    let url = new URL(address);
    let response = await this.fetch(url, init);
    for (let location = response.headers.get("location"); location !== null;) {
      url = new URL(location, url);
      response = await this.fetch(url);
      location = response.headers.get("location");
    }
    return { url, text: await response.text() };
  }

  /** Sends the form of a page. */
  async send({ url, text }: { readonly url: URL; readonly text: string }, fields: { readonly [name: string]: string }) {
    const [, action = ""] = /<form[^>]* action="([^"]*)"/.exec(text) ?? [];
    const hidden = [...text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
    const body = new URLSearchParams(hidden.map(([, name = "", value = ""]) => [name, value]));
    for (const [name, value] of Object.entries(fields)) body.set(name, value);
    return this.open(new URL(action, url), { method: "POST", body });
  }
}
