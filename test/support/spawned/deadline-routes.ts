/** Routes whose deadline passes. They tell how what they began has ended. */
import {
  Deadline,
  Dep,
  Event,
  Meta,
  Path,
  Returns,
  Socket,
  body,
  bodyStream,
  clientGone,
  deadline,
  get,
  post,
  validWhile,
} from "../../../src/index.ts";
import type { Route } from "../../../src/index.ts";

const texts = Socket.protocol({ client: Socket.text, server: Socket.text });
const tick = Event.text("tick");
const meta = Meta.empty.add(Meta.deadline, Deadline.make(100));
const never = (): Promise<never> => new Promise(() => {});

export function deadlineRoutes(tell: (what: string) => void): readonly Route[] {
  const at = (name: string) => Path.of("deadline", name);
  const held = (name: string, acquire: () => unknown = () => name): Dep<unknown> =>
    Dep.scoped({}, acquire, (_value, { how }) => tell(`${name}: ${how}`));
  const aborted = (signal: AbortSignal): Promise<unknown> =>
    new Promise((resolve) => signal.addEventListener("abort", resolve));
  const valid = Dep.join({ validWhile }, ({ validWhile }) => validWhile({ until: new Date(Date.now() + 100) }));
  return [
    get(at("never"), { inputs: { a: held("never") }, returns: Returns.text, meta }, never),
    get(
      at("acquires"),
      { inputs: { a: held("before"), b: held("acquires", never) }, returns: Returns.text, meta },
      () => "x",
    ),
    get(at("signal"), { inputs: { deadline }, returns: Returns.text, meta }, async ({ deadline }) => {
      await aborted(deadline);
      tell("signal: aborted");
      return "late";
    }),
    post(at("body"), { inputs: { a: held("body"), body }, returns: Returns.text, meta }, () => "x"),
    post(
      at("parts"),
      { inputs: { a: held("parts"), it: bodyStream({ max: 100 }) }, returns: Returns.text, meta },
      async ({ it }) => {
        for await (const _ of it);
        return "x";
      },
    ),
    get(
      at("events"),
      { inputs: { a: held("events"), deadline }, returns: Returns.events([tick]), meta },
      ({ deadline }) => {
        return async (send) => {
          await send(Event.make(tick, "one"));
          await aborted(deadline);
          tell(`events: ${(await send(Event.make(tick, "two"))).ok ? "sent" : "gone"}`);
        };
      },
    ),
    // The end of what an input checked, and not of a deadline.
    get(
      Path.of("validity", "events"),
      { inputs: { a: held("validity events"), valid, clientGone }, returns: Returns.events([tick]) },
      ({ clientGone }) => {
        return async (send) => {
          await send(Event.make(tick, "one"));
          await aborted(clientGone);
          tell(`validity events: ${(await send(Event.make(tick, "two"))).ok ? "sent" : "gone"}`);
        };
      },
    ),
    get(
      Path.of("validity", "socket"),
      { inputs: { a: held("validity socket"), valid }, returns: Returns.websocket(texts) },
      () => async (socket) => {
        await socket.send("open");
        for await (const said of socket) await socket.send(said);
        tell("validity socket: over");
      },
    ),
    get(
      at("socket"),
      { inputs: { a: held("socket") }, returns: Returns.websocket(texts), meta },
      () => async (socket) => {
        await socket.send("open");
        for await (const said of socket) await socket.send(said);
        tell("socket: over");
      },
    ),
  ];
}
