import { Event, Path, Refusal, Returns, Shape, clientGone, get, json, post, refuse } from "usher-http";
import * as v from "valibot";
import { wall } from "./wall.ts";

// PostgreSQL's text cannot contain NUL.
const text = v.pipe(v.string(), v.minLength(1), v.maxLength(200), v.regex(/^[^\0]*$/, "This must be text."));
const id = v.pipe(v.number(), v.integer());

const Message = Shape.named("Message", v.object({ id, text, sent_at: Shape.instant }));

/** An event of the stream: the newest messages. Whole lists, so that a client that was away misses nothing. */
const Newest = Event.json("newest", v.array(Message));

/** A refusal: an error that a route declares. The compiler rejects a handler that refuses with any other. */
const repeated = Refusal.code("repeated", { status: 409, doc: "The newest message has the same text." });

const sendMessage = post(
  Path.of("messages"),
  {
    summary: "Send a message",
    inputs: { wall, message: json(v.object({ text }), { examples: [{ text: "Hello" }] }) },
    returns: Returns.json(Message, { status: 201 }),
    refuses: [repeated],
  },
  async ({ wall, message }) => (await wall.add(message.text)) ?? refuse(repeated, "That is what the newest one says."),
);

const followMessages = get(
  Path.of("messages"),
  {
    summary: "Follow the newest messages",
    inputs: { wall, clientGone },
    returns: Returns.events([Newest]),
  },
  ({ wall, clientGone }) =>
    async (send) => {
      // Subscribe before the first read, so that no message is lost in between.
      const news = wall.news.subscribe("wall");
      try {
        do {
          const messages = await wall.newest(20);
          if (!(await send(Event.make(Newest, [...messages]))).ok) return;
        } while ((await news.next({ until: clientGone })) !== undefined);
        // Without news the client has gone, or was too slow. A browser connects again by itself.
      } finally {
        news.unsubscribe();
      }
    },
);

export const routes = [sendMessage, followMessages] as const;
