/** Serves routes by schemas of three libraries on whatever runtime runs it, and prints what a client is answered. */
import { type } from "arktype";
import * as S from "effect/Schema";
import { Log, Path, Returns, json, post } from "usher-http";
import * as z from "zod";

const runtime = "Bun" in globalThis ? "bun" : "Deno" in globalThis ? "deno" : "node";
const { serve } = await import(`usher-http/${runtime}`);
Log.setup({ level: undefined });

const schemas = {
  zod: z.object({ at: z.iso.datetime().transform((text) => new Date(text)), name: z.string().min(2) }),
  awaited: z.object({ at: z.iso.datetime(), name: z.string().refine(async (name) => name !== "s3cret", "Taken.") }),
  arktype: type({ at: "string.date.iso", name: "string >= 2" }),
  effect: S.toStandardSchemaV1(S.Struct({ at: S.String, name: S.String.check(S.isMinLength(2)) })),
};
const routes = Object.entries(schemas).map(([name, schema]) => {
  const returns = name === "awaited" ? Returns.text : Returns.json(schema);
  const answer = ({ body: { at, name: who } }) => ({ at: at instanceof Date ? at.toISOString() : at, name: who });
  const inputs = { body: json(schema) };
  return post(Path.of(name), { inputs, returns }, (values) => (name === "awaited" ? values.body.name : answer(values)));
});
const server = await serve(routes, { port: 0, host: "127.0.0.1" });
const told = {};
for (const name of Object.keys(schemas)) {
  const ask = async (body) => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(`http://127.0.0.1:${server.port}/${name}`, { method: "POST", headers, body });
    return [response.status, await response.text()];
  };
  const good = JSON.stringify({ at: "2026-09-30T12:00:00.000Z", name: "Kim", password: "s3cret", ["__proto__"]: 1 });
  const [one, other, wrong, none] = await Promise.all([ask(good), ask(good), ask('{"at":"s3cret"}'), ask("{")]);
  const { problems = [] } = JSON.parse(wrong[1]);
  told[name] = { one, isAlike: `${one}` === `${other}`, wrong: problems.map(({ at }) => at).toSorted(), none: none[0] };
  told[name].leaks = wrong[1].includes("s3cret");
}
console.log(JSON.stringify(told));
await server.stop();
