/** Apps with one page, and what it may wait for. */
import { Answer, App, Path, Returns, get } from "usher-http";
import type { FailedRequest, Html, HtmlValue } from "usher-http";

/** What `onError` got. */
export const failures: unknown[] = [];
const onError = (thrown: unknown, { during }: FailedRequest) => void failures.push([thrown, during]);

/** A gate that a test opens. */
export function gate<A = void>() {
  let open!: (value: A) => void;
  let fail!: (thrown: unknown) => void;
  const promise = new Promise<A>((resolve, reject) => ([open, fail] = [resolve, reject]));
  return { promise, open, fail };
}

/** An app whose pages at `/` and `/built` are what `make` makes. */
export function appOf(make: () => Html | Promise<Html>, options: App.AppOptions = {}) {
  const page = get(Path.root, { returns: Returns.html }, make);
  const built = get(Path.of("built"), { returns: Returns.response }, async () =>
    Answer.html(await make(), { status: 203 }),
  );
  return App.make([page, built], { onError, ...options });
}

/** Asks that app. */
export async function fetched(make: () => Html | Promise<Html>, { path = "", method = "GET" } = {}) {
  return appOf(make).fetch(new Request(`http://h/${path}`, { method }));
}

/** A list of the application's own, and whether it was ended. */
export function listOf(...items: readonly HtmlValue[]) {
  const told = { begun: false, ended: false };
  async function* make() {
    told.begun = true;
    try {
      for (const item of items) yield await item;
    } finally {
      told.ended = true;
    }
  }
  return { list: make(), told };
}
