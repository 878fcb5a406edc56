/** What a handler gets of a schema of another library than Valibot, what it must return, and what a client sends and gets. */
import { type } from "arktype";
import * as S from "effect/Schema";
import {
  Answer,
  Client,
  Event,
  Path,
  Refusal,
  Returns,
  Sessions,
  Shape,
  Socket,
  Test,
  answer,
  get,
  json,
  post,
} from "usher-http";
import { Type } from "usher-http/postgres";
import * as v from "valibot";
import * as z from "zod";

type Same<A, B> = [A, B] extends [B, A] ? (0 extends 1 & A ? false : true) : false;
const same = <A, B>(_same: Same<A, B>): void => {};

const Zod = z.object({
  count: z.string().transform(Number),
  note: z.string().default(""),
  state: z.enum(["new", "sent"]),
});
const Ark = type({ count: "string.integer.parse", note: "string = ''", state: "'new' | 'sent'" });
const Effect = S.toStandardSchemaV1(S.Struct({ count: S.NumberFromString, state: S.Literals(["new", "sent"]) }));
const Day = z.object({
  at: z.iso.datetime().transform((text) => new Date(text)),
  tags: z.array(z.string()).readonly(),
});

const unfit = Refusal.code("unfit", { status: 422, doc: "Does not fit." });

export const byZod = post(Path.of("zod"), { inputs: { body: json(Zod) }, returns: Returns.json(Day) }, ({ body }) => {
  same<typeof body, { count: number; note: string; state: "new" | "sent" }>(true);
  return { at: body.note, tags: [body.count.toFixed(), body.state] as const };
});
export const byArk = post(Path.of("ark"), { inputs: { body: json(Ark) }, returns: Returns.json(Ark) }, ({ body }) => {
  same<typeof body, { count: number; note: string; state: "new" | "sent" }>(true);
  return { count: body.count.toFixed(), state: "new" };
});
export const byEffect = post(
  Path.of("effect"),
  {
    inputs: { body: json(Effect, { refusal: [unfit, "No."], examples: [{ count: "7", state: "new" }] }) },
    returns: Returns.json(Effect),
  },
  async ({ body }) => {
    same<typeof body, { readonly count: number; readonly state: "new" | "sent" }>(true);
    return { count: String(body.count), state: "sent" };
  },
);
// @ts-expect-error the output, where the schema takes its input
post(Path.of("a"), { returns: Returns.json(Day) }, () => ({ at: new Date(), tags: [] }));
// @ts-expect-error a word that the schema does not list
post(Path.of("a"), { returns: Returns.json(Zod) }, () => ({ count: "1", state: "old" }));
// @ts-expect-error an example that is not its input
json(Zod, { examples: [{ count: 7, state: "new" }] });
// @ts-expect-error no schema
json({ count: z.string() });
// @ts-expect-error no schema
Returns.json({ count: v.string() });
// @ts-expect-error an example that is not a value of the shape
Returns.json(v.object({ count: v.number() }), { examples: [{ count: "7" }] });

const routes = [byZod, byArk, byEffect] as const;
export async function call(): Promise<void> {
  const api = Client.of<typeof routes>({ baseUrl: "" });
  const zod = await api["POST /zod"]({ json: { count: "7", state: "new" } });
  if (zod.ok) same<typeof zod.value, { at: string; tags: readonly string[] }>(true);
  const ark = await api["POST /ark"]({ json: { count: "7", state: "new", note: "n" } });
  if (ark.ok) same<typeof ark.value, { count: number; note: string; state: "new" | "sent" }>(true);
  const effect = await api["POST /effect"]({ json: { count: "7", state: "new" } });
  if (!effect.ok && effect.error === "unfit") effect.message.toUpperCase();
  // @ts-expect-error the output, where a client sends the input
  await api["POST /zod"]({ json: { count: 7, state: "new" } });
  // @ts-expect-error a member is missing
  await api["POST /ark"]({ json: { count: "7" } });
}

export const several = get(Path.of("b"), { returns: Returns.jsonResponse(Zod, { 200: "Here.", 201: "Made." }) }, () =>
  answer(201, { count: "1", state: "new" }),
);
export const built = Answer.json(Zod, { count: "1", state: "new" });
// @ts-expect-error the output
Answer.json(Zod, { count: 1, note: "", state: "new" });

const kind = Event.json("day", Day);
Event.make(kind, { at: "2026-09-30T12:00:00Z", tags: ["a"] });
// @ts-expect-error the output
Event.make(kind, { at: new Date(), tags: [] });
const days = get(Path.of("days"), { returns: Returns.events([kind]) }, () => async () => {});
export async function follow(): Promise<void> {
  const heard = await Client.of<readonly [typeof days]>({ baseUrl: "" })["GET /days"]();
  if (heard.ok)
    for await (const event of heard.value) same<typeof event.value, { at: string; tags: readonly string[] }>(true);
}

const protocol = Socket.protocol({ client: Socket.json(Zod), server: Socket.json(Day) });
export const room = get(Path.of("room"), { returns: Returns.websocket(protocol) }, () => async (socket) => {
  for await (const message of socket) {
    same<typeof message, { count: number; note: string; state: "new" | "sent" }>(true);
    await socket.send({ at: message.note, tags: [] });
    await socket.send(Socket.encode(protocol.server, { at: "now", tags: [] }));
    // @ts-expect-error the output
    await socket.send({ at: new Date(), tags: [] });
  }
});
export const talk = (app: Test.TestApp) =>
  Test.websocket(app, protocol, "/room", async (socket) => {
    await socket.send({ count: "7", state: "new" });
    const heard = await socket.receive();
    if (heard.ok) same<typeof heard.value, { at: string; tags: readonly string[] }>(true);
  });

const times = { idleMs: 1, absoluteMs: 1, store: Sessions.memory() };
export const sessions = Sessions.make({ ...times, shape: z.object({ clerk: z.string().default("kim") }) });
// @ts-expect-error what it writes it cannot read again
Sessions.make({ ...times, shape: Zod });
export const column = Type.json(z.object({ clerk: z.string().trim() }));
// @ts-expect-error what it writes it cannot read again
Type.json(Zod);

export const named: typeof Zod = Shape.named("Zod", Shape.described(Zod, { type: "object" }));

/** A helper over routes of any schema. */
export const pageOf = <S extends Shape.StandardSchema>(name: string, schema: S) =>
  post(Path.of(name), { inputs: { body: json(schema) }, returns: Returns.text }, ({ body }) => JSON.stringify(body));
