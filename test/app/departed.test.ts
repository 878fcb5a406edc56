/** A request whose client has disconnected before its handler reads the signal. */
import { expect, it } from "vitest";
import { App, Path, Returns, clientGone, get } from "usher-http";
import "../support/logs.ts";

const route = get(Path.root, { inputs: { gone: clientGone }, returns: Returns.text }, ({ gone }) =>
  String(gone.aborted),
);

it.each([true, false])(
  "a handler sees an aborted signal at once when its client has disconnected, with app.fetch: %s",
  async (isGone) => {
    const leaving = new AbortController();
    const request = new Request("http://h/", { signal: leaving.signal });
    if (isGone) leaving.abort();
    expect(await (await App.make([route]).fetch(request)).text()).toBe(String(isGone));
  },
);
