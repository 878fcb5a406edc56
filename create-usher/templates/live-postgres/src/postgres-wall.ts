import { Event } from "usher-http";
import { Statement, Type } from "usher-http/postgres";
import type { Pool } from "usher-http/postgres";
import type { Wall } from "./wall.ts";

const { int, text, instant } = Type;
const columns = { id: int, text, sent_at: instant };

const addMessage = Statement.findOptional(
  `insert into messages (text)
   select $1 where $1 is distinct from (select text from messages order by id desc limit 1)
   returning id, text, sent_at`,
  { params: [text], row: columns },
);
const newestMessages = Statement.list("select id, text, sent_at from messages order by id desc limit $1", {
  params: [int],
  row: columns,
});

/** The server checks them against the database when it starts. */
export const statements = [addMessage, newestMessages];

/** Keeps messages in PostgreSQL. */
export function postgresWall(pool: Pool, news: Wall["news"]): Wall {
  return {
    news,
    async add(text) {
      const message = await pool.exec(addMessage, text);
      // After the message is kept, so that each subscriber can read it.
      if (message !== undefined) news.publish("wall", Event.comment("more"));
      return message;
    },
    newest: (count) => pool.exec(newestMessages, count),
  };
}
