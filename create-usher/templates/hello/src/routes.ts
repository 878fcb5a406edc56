import { Answer, Dep, Meta, Path, Query, Refusal, Returns, get, json, param, post, refuse } from "usher-http";
import * as v from "valibot";

const maxSeats = 8;

const Booking = v.object({
  name: v.pipe(v.string(), v.minLength(1), v.maxLength(50)),
  people: v.pipe(v.number(), v.integer(), v.minValue(1)),
});

const greetings = { en: "Hello", de: "Hallo", fr: "Bonjour" };

/** A dependency: it is made of inputs, and any route can name it. Another language is a 400, before a handler runs. */
const greeting = Dep.join(
  { language: Query.default("language", v.picklist(["en", "de", "fr"]), "en") },
  ({ language }) => greetings[language],
);

/** A refusal: an error that a route declares. The compiler rejects a handler that refuses with any other. */
const tooMany = Refusal.code("too_many", { status: 409, doc: "No table has as many seats." });

const name = Path.str("name");

const hello = get(
  Path.of("hello", name),
  { summary: "Greet someone", inputs: { name: param(name), greeting }, returns: Returns.text },
  ({ name, greeting }) => `${greeting}, ${name}.`,
);

const book = post(
  Path.of("tables"),
  {
    summary: "Book a table",
    inputs: { greeting, booking: json(Booking, { examples: [{ name: "Ada", people: 2 }] }) },
    returns: Returns.json(v.object({ message: v.string() }), { status: 201 }),
    refuses: [tooMany],
  },
  ({ greeting, booking: { name, people } }) =>
    people > maxSeats
      ? refuse(tooMany, `Our largest table has ${maxSeats} seats.`)
      : { message: `${greeting}, ${name}. Your table has ${people} seats.` },
);

const home = get(
  Path.root,
  {
    returns: Returns.responses({ 302: "To the API's page." }),
    // Not part of the API's description.
    meta: Meta.empty.add(Meta.hidden, true),
  },
  () => Answer.redirect("/docs"),
);

export const routes = [hello, book, home] as const;
