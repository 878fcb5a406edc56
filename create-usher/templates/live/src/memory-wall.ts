import { Broadcast, Event } from "usher-http";
import type { Message, Wall } from "./wall.ts";

/** Keeps messages in memory: they are gone when the process ends. */
export function memoryWall(): Wall {
  const messages: Message[] = [];
  const news = Broadcast.create<never>({ depth: 1, behind: "skip" });
  let lastId = 0;
  return {
    news,
    async add(text) {
      if (messages[0]?.text === text) return undefined;
      const message = { id: ++lastId, text, sent_at: new Date() };
      messages.unshift(message);
      messages.splice(100);
      news.publish("wall", Event.comment("more"));
      return message;
    },
    newest: async (count) => messages.slice(0, count),
  };
}
