/** What JavaScript can get wrong in the declaration of a path or an input. */
import {
  Codec,
  Cookie,
  Dep,
  Form,
  Header,
  Meta,
  Path,
  Query,
  Refusal,
  Returns,
  Route,
  bodyStream,
  get,
  json,
  jsonLines,
  multipart,
  param,
  post,
  refuse,
} from "usher-http";
import * as v from "valibot";
import { appOf, names, optional } from "./rule.ts";
import type { Row, Tables } from "./rule.ts";

const a = Path.of("a");
const done = () => "done";
const reads = (input: unknown) => appOf(get(a, { inputs: { x: input as never }, returns: Returns.text }, done));
const sends = (input: unknown) => appOf(post(a, { inputs: { x: input as never }, returns: Returns.text }, done));
const answers = (path: unknown) => appOf(get(path as never, { returns: Returns.text }, done));
const number = Path.int("n");

const paths: readonly Row[] = [
  ["Path.of", (x) => answers(Path.of("a", x)), ["b"]],
  ["Path.s", (x) => answers(Path.of("a", Path.s(x))), [":b"]],
  ["Path.str", (x, o) => answers(Path.of("a", Path.str(x, o))), ["b", {}]],
  ["Path.int", (x, o) => answers(Path.of("a", Path.int(x, o))), ["b", {}]],
  ["Path.int32", (x, o) => answers(Path.of("a", Path.int32(x, o))), ["b", {}]],
  ["Path.int64", (x, o) => answers(Path.of("a", Path.int64(x, o))), ["b", {}]],
  ["Path.param", (x, k, o) => answers(Path.of("a", Path.param(x, k, o))), ["b", Codec.int, {}]],
  ["Path.rest", (x) => answers(Path.of("a", Path.rest(x))), ["b"]],
  ["Path.join", (x, y) => answers(Path.join(x, y)), [a, Path.of("b")]],
  ["Path.url", (path, given, query) => Path.url(path, given, query), [a, names({}), names({})]],
  [
    "param",
    (x) => appOf(get(Path.of("a", number), { inputs: { x: param(x) as never }, returns: Returns.text }, done)),
    [number],
  ],
];

const mounted = (options: object) => appOf(Route.mount(a, () => new Response("done"), options));
const grouped = (options: object) => appOf(Route.group(options).get(a, { returns: Returns.text }, done));
const groups: readonly Row[] = [
  ["Route.group", (x: object, routes: readonly never[]) => appOf(...Route.group(x, routes)), [{ prefix: a }, []]],
  ["Route.mount", (x, y, z) => appOf(Route.mount(x, y, z)), [a, () => new Response("done"), {}]],
  ["Route.mount", (methods) => mounted({ methods }), [["GET"]]],
  ["Route.mount", (stripPrefix) => mounted({ stripPrefix }), [true]],
  ["Route.mount", (maxBody) => mounted({ maxBody }), [1]],
  ["Route.mount", (inputs) => mounted({ inputs }), [names({})]],
  ["Route.mount", (b) => mounted({ inputs: { b } }), [Query.optional("b", Codec.int)]],
  ["Route.mount", (refuses) => mounted({ refuses }), [[]]],
  ["Route.mount", (meta) => mounted({ meta }), [Meta.empty]],
  ["Route.group", (prefix) => grouped({ prefix }), [a]],
  ["Route.group", (inputs) => grouped({ inputs }), [names({})]],
  ["Route.group", (b) => grouped({ inputs: { b } }), [Query.optional("b", Codec.int)]],
  ["Route.group", (refuses) => grouped({ refuses }), [[]]],
  ["Route.group", (tags) => grouped({ tags }), [["a"]]],
  ["Route.group", (meta) => grouped({ meta }), [Meta.empty]],
  ["Route.group", (x) => appOf(...Route.group({}, [x])), [get(a, { returns: Returns.text }, done)]],
  ["Route.group", (x, y, z) => appOf(Route.group({}).get(x, y, z)), [a, { returns: Returns.text }, done]],
  [
    "Route.group",
    (m, x, y, z) => appOf(Route.group({}).route(m, x, y, z)),
    ["GET", a, { returns: Returns.text }, done],
  ],
  ["Route.group", (x) => appOf(...Route.group({ prefix: a }).group(x, [])), [{ prefix: a }]],
];

const inputs: readonly Row[] = [
  ["Query.required", (x, k, o) => reads(Query.required(x, k, o)), ["b", Codec.int, {}]],
  ["Query.optional", (x, k, o) => reads(Query.optional(x, k, o)), ["b", Codec.int, {}]],
  ["Query.list", (x, k, o) => reads(Query.list(x, k, o)), ["b", Codec.int, {}]],
  ["Query.object", (x, s, o) => reads(Query.object(x, s, o)), ["b", v.object({}), {}]],
  ["Query.default", (x, k, d, o) => reads(Query.default(x, k, d, o)), ["b", Codec.int, 1, {}]],
  ["Header.required", (x, k, o) => reads(Header.required(x, k, o)), ["b", Codec.int, {}]],
  ["Header.optional", (x, k, o) => reads(Header.optional(x, k, o)), ["b", Codec.int, {}]],
  ["Header.list", (x, k, o) => reads(Header.list(x, k, o)), ["b", Codec.int, {}]],
  ["Header.default", (x, k, d, o) => reads(Header.default(x, k, d, o)), ["b", Codec.int, 1, {}]],
  ["Form.required", (x, k, o) => sends(Form.required(x, k, o)), ["b", Codec.int, {}]],
  ["Form.optional", (x, k, o) => sends(Form.optional(x, k, o)), ["b", Codec.int, {}]],
  ["Form.list", (x, k, o) => sends(Form.list(x, k, o)), ["b", Codec.int, {}]],
  ["Form.checked", (x, o) => sends(Form.checked(x, o)), ["b", {}]],
  ["Form.File.required", (x, o) => sends(Form.File.required(x, o)), ["b", {}]],
  ["Form.File.list", (x, o) => sends(Form.File.list(x, o)), ["b", {}]],
  ["Cookie.named", (x, k, o) => reads(Cookie.optional(Cookie.named(x, k, o))), ["b", Codec.int, {}]],
  ["Cookie.required", (x) => reads(Cookie.required(x)), [Cookie.named("b", Codec.int)]],
  ["Cookie.optional", (x) => reads(Cookie.optional(x)), [Cookie.named("b", Codec.int)]],
  ["json", (x) => sends(json(v.object({}), { refusal: x })), [[Refusal.invalid, "It is odd."]]],
  ["json", (x) => sends(json(v.object({}), { examples: x })), [[{}]]],
  ["Query.required", (x) => reads(Query.required("b", Codec.int, { examples: x })), [[1]]],
  ["json", (x, o) => sends(json(x, o)), [v.object({}), {}]],
  ["bodyStream", (o) => sends(bodyStream(o)), [{ max: 1 }]],
  ["jsonLines", (x, o) => sends(jsonLines(x, o)), [v.object({}), { max: 1 }]],
  ["jsonLines", (x) => sends(jsonLines(v.object({}), { max: x })), [1]],
  ["jsonLines", (x) => sends(jsonLines(v.object({}), { max: 1, maxLine: x })), [1]],
  ["multipart", (o) => sends(multipart(o)), [{ max: 1 }]],
  ["multipart", (x) => sends(multipart({ max: 1, fields: [x] })), [Form.File.required("b")]],
];

const one = Dep.return(1);
const store = Dep.ofResource<number>("store");
const dependencies: readonly Row[] = [
  ["Dep.map", (x, f) => reads(Dep.map(x, f)), [one, done]],
  ["Dep.join", (x, f, o) => reads(Dep.join(x, f, o)), [{ one }, done, {}]],
  ["Dep.scoped", (x, f, g, o) => reads(Dep.scoped(x, f, g, o)), [{ one }, done, done, {}]],
  ["Dep.scoped", (x) => reads(Dep.scoped({ one }, done, done, { refuses: [x] })), [Refusal.notFound]],
  ["Dep.scoped", (x) => reads(Dep.scoped({ one }, done, done, { beforeAnswer: x })), [optional(() => {})]],
  ["Dep.transaction", (x, o) => reads(Dep.transaction(x, o)), [one, names({})]],
  ["Dep.join", (x) => reads(Dep.join({ one }, done, { refuses: x })), [[Refusal.notFound]]],
  ["Dep.join", (x) => reads(Dep.join({ one }, done, { refuses: [x] })), [Refusal.notFound]],
  ["Dep.ofRequest", (x) => reads(Dep.ofRequest(done, { refuses: x })), [[Refusal.notFound]]],
  ["Dep.ofRequest", (x) => reads(Dep.ofRequest(done, { needs: x })), [[]]],
  ["Dep.ofRequest", (x) => reads(Dep.ofRequest(done, { needs: [x] })), [{ in: "query", name: "b" }]],
  ["Dep.ofBody", (x) => sends(Dep.ofBody({ contentTypes: ["a/b"], refuses: x }, done)), [[Refusal.notFound]]],
  ["Dep.all", (x) => reads(Dep.all(x)), [{ one }]],
  ["Dep.bind", (x, f) => reads(Dep.bind(x, f)), [one, () => one]],
  ["Dep.credential", (x, d, o) => reads(Dep.credential(x, d, o)), ["bearer", one, {}]],
  ["Dep.credential", (scopes) => reads(Dep.credential("bearer", one, { scopes })), [["read"]]],
  ["Dep.uncached", (x) => reads(Dep.uncached(x)), [one]],
  ["Dep.ofRequest", (f, o) => reads(Dep.ofRequest(f, o)), [done, {}]],
  ["Dep.ofBody", (o, f) => sends(Dep.ofBody(o, f)), [{ contentTypes: ["a/b"] }, done]],
  ["Dep.ofBody", (types) => sends(Dep.ofBody({ contentTypes: types }, done)), [["a/b"]]],
  ["Dep.resource", (x) => Dep.resource(x, 1 as never), [store]],
  ["Dep.refuse", (x) => reads(Dep.refuse(x)), [refuse(Refusal.invalid)]],
  ["Dep.problem", (x) => Dep.problem(x), [{ at: "query.b", code: "odd", message: "It is odd." }]],
  ["Dep.problems", (x) => Dep.problems(x), [[Dep.problem({ at: "query.b", code: "odd", message: "It is odd." })]]],
  [
    "Refusal.code",
    (x, o) => reads(Dep.refuse(refuse(Refusal.code(x, o)))),
    ["odd", { status: 400, doc: "It is odd." }],
  ],
  ["refuse", (x, s, o) => reads(Dep.refuse(refuse(x, s, o))), [Refusal.invalid, "It is odd.", {}]],
];

export const inputTables: Tables = {
  "a path": paths,
  "a group of routes": groups,
  "an input": inputs,
  "a dependency": dependencies,
};
