/** Routes whose inputs are released after the answer (`Dep.scoped`). They tell what they acquire and release. */
import { Answer, Dep, Path, Returns, Socket, after, get } from "../../../src/index.ts";
import type { Route } from "../../../src/index.ts";

const text = new TextEncoder();
const texts = Socket.protocol({ client: Socket.text, server: Socket.text });

/** @param opened What a test lets go. */
export function releaseRoutes(tell: (what: string) => void, opened: Promise<void>): readonly Route[] {
  let open = 0;
  const held = (name: string, release: () => unknown = () => {}): Dep<string> =>
    Dep.scoped(
      {},
      async () => {
        open++;
        tell(`${name}: acquired`);
        return name;
      },
      async (_name, { how }) => {
        await release();
        open--;
        tell(`${name}: released: ${how}`);
      },
    );
  async function* parts(): AsyncGenerator<Uint8Array> {
    yield text.encode("before ");
    await opened;
    yield text.encode("after");
  }
  async function* ticks(): AsyncGenerator<Uint8Array> {
    for (;;) {
      yield text.encode("tick ");
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
  // Nothing else keeps a stopped server's process.
  const keptOpen = async (): Promise<void> => {
    const keeps = setInterval(() => {}, 1000);
    await opened;
    clearInterval(keeps);
  };
  const stream = (): Answer => Answer.stream(parts(), { contentType: "text/plain" });
  const echo = async (socket: Socket<string, string>): Promise<void> => {
    for await (const said of socket) await socket.send(said);
  };
  return [
    get(Path.of("released", "text"), { inputs: { a: held("text") }, returns: Returns.text }, () => "text"),
    get(Path.of("released", "throws"), { inputs: { a: held("throws") }, returns: Returns.text }, () => {
      throw new Error("a secret");
    }),
    get(Path.of("released", "stream"), { inputs: { a: held("stream") }, returns: Returns.response }, stream),
    get(Path.of("released", "ticks"), { inputs: { a: held("ticks") }, returns: Returns.response }, () =>
      Answer.stream(ticks(), { contentType: "text/plain" }),
    ),
    get(Path.of("released", "late"), { inputs: { a: held("late") }, returns: Returns.response }, async () => {
      await keptOpen();
      return stream();
    }),
    get(Path.of("released", "late-text"), { inputs: { a: held("late-text") }, returns: Returns.text }, async () => {
      await opened;
      return "late";
    }),
    get(
      Path.of("released", "socket"),
      { inputs: { a: held("socket") }, returns: Returns.websocket(texts) },
      () => echo,
    ),
    get(
      Path.of("released", "late-socket"),
      { inputs: { a: held("late-socket") }, returns: Returns.websocket(texts) },
      async () => {
        await keptOpen();
        return echo;
      },
    ),
    get(
      Path.of("released", "slow"),
      { inputs: { a: held("slow", () => opened) }, returns: Returns.text },
      () => "slow",
    ),
    get(
      Path.of("released", "never"),
      { inputs: { a: held("never", () => new Promise(() => {})) }, returns: Returns.text },
      () => "never",
    ),
    get(
      Path.of("released", "raises"),
      {
        inputs: {
          a: held("behind"),
          b: held("raises", () => {
            throw new Error("a secret");
          }),
        },
        returns: Returns.text,
      },
      () => "raises",
    ),
    get(Path.of("after"), { inputs: { after }, returns: Returns.text }, ({ after }) => {
      after(async () => {
        await opened;
        tell("after: done");
      });
      return "after";
    }),
    get(Path.of("released"), { returns: Returns.text }, () => String(open)),
  ];
}
