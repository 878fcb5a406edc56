/** What the relays' processes do: follow a topic, tell what comes on standard output, and do what standard input says. */
import process from "node:process";
import { createInterface } from "node:readline";
import { Broadcast, Event } from "../../../src/index.ts";
import type { Relay } from "../../../src/index.ts";

const Text = Event.text("text");

export type Open = (url: string, options: { readonly channel: string }) => Promise<Relay & { close(): Promise<void> }>;

function tell(what: string): void {
  process.stdout.write(`${what}\n`);
}

export async function main(open: Open): Promise<void> {
  const [url = "", channel = ""] = process.argv.slice(2);
  const relay = await open(url, { channel });
  const hub = Broadcast.create<typeof Text>({ depth: 100_000, relay });
  let isOver = false;
  const follow = async (): Promise<void> => {
    while (!isOver) {
      const subscription = hub.subscribe("topic");
      tell("following");
      for await (const { wire } of subscription) tell(`heard ${/^data: (.{0,100})/m.exec(wire)?.[1]}`);
      tell("ended");
    }
  };
  const commands: { readonly [name: string]: (what: string, times: number) => void | Promise<void> } = {
    publish(what, times) {
      for (let i = 0; i < times; i++) hub.publish("topic", Event.make(Text, `${what} ${i}`));
    },
    large: (what, times) => hub.publish("topic", Event.make(Text, what.repeat(times))),
    elsewhere: (what) => hub.publish("tôpic\n😀 ", Event.make(Text, what)),
    // After earlier events, which the broker has confirmed by then.
    async settle() {
      await relay.publish("elsewhere", "");
      tell("settled");
    },
    async close() {
      isOver = true;
      // From now on nothing but the relay's end keeps the process running.
      process.stdin.destroy();
      hub.close();
      await relay.close();
      tell("closed");
    },
    leave() {
      process.stdin.destroy();
    },
    // Nothing else keeps the process running meanwhile.
    async finish(what, times) {
      process.stdin.destroy();
      isOver = true;
      await commands["publish"]?.(what, times);
      hub.close();
      await relay.close();
      tell("closed");
    },
  };
  createInterface(process.stdin).on("line", (line) => {
    const [name = "", what = "", times = "1"] = line.split(" ");
    void commands[name]?.(what, Number(times));
  });
  void follow();
}
