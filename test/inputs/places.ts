/** Sends one text to a route in each place that can hold a text: path, query, header and others. */
import { Cookie, Form, Header, Path, Query, Returns, Test, get, param, post } from "usher-http";
import type { Codec, Inputs, PathType } from "usher-http";

/** An input in one place, and how a text is sent there: undefined if the place cannot hold the text. */
interface Place {
  readonly place: string;
  readonly route: (codec: Codec<unknown>) => { readonly path: PathType<never>; readonly inputs: Inputs };
  readonly send: (app: Test.TestApp, text: string) => ReturnType<typeof Test.call> | undefined;
}

const root = { path: Path.root };

export const places: readonly Place[] = [
  {
    place: "path",
    route: (codec) => {
      const x = Path.param("x", codec);
      return { path: Path.of("a", x) as unknown as PathType<never>, inputs: { x: param(x) } };
    },
    send: (app, text) => (text === "" ? undefined : Test.call(app, "GET", `/a/${encodeURIComponent(text)}`)),
  },
  {
    place: "query",
    route: (codec) => ({ ...root, inputs: { x: Query.required("x", codec) } }),
    send: (app, text) => Test.call(app, "GET", `/?x=${encodeURIComponent(text)}`),
  },
  {
    place: "header",
    route: (codec) => ({ ...root, inputs: { x: Header.required("x", codec) } }),
    // The spaces around a header's value are not part of the value.
    send: (app, text) => (text.trim() === text ? Test.call(app, "GET", "/", { headers: { x: text } }) : undefined),
  },
  {
    place: "cookie",
    route: (codec) => ({ ...root, inputs: { x: Cookie.required(Cookie.named("x", codec)) } }),
    send: (app, text) =>
      text.trim() === text && !text.includes(";")
        ? Test.call(app, "GET", "/", { headers: { cookie: `x=${text}` } })
        : undefined,
  },
  {
    place: "form",
    route: (codec) => ({ ...root, inputs: { x: Form.required("x", codec) } }),
    send: (app, text) => Test.call(app, "POST", "/", { body: new URLSearchParams({ x: text }) }),
  },
];

/** The app of a route that reads `x` in one place and answers with its value as text. */
export function appOf({ route }: Place, schema: unknown): Test.TestApp {
  const { path, inputs } = route(schema as Codec<unknown>);
  const tell = ({ x }: { readonly x?: unknown }): string => told(x);
  const declared = { inputs, returns: Returns.text };
  return Test.app([get(path, declared, tell), post(path, declared, tell)]);
}

/** A value with its type: `number 1`. */
export function told(value: unknown): string {
  if (Object.is(value, -0)) return "number -0";
  return `${typeof value} ${value instanceof Date ? value.toISOString() : String(value)}`;
}
