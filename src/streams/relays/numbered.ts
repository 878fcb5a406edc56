import { OldestFirst } from "../../oldest-first.ts";
import { freshHex } from "../../tracing/random.ts";

/** What a message of another process turned out to be, and whether one before it never came. */
export interface Heard {
  /** Undefined where it only says how far its sender is. */
  readonly event: { readonly topic: string; readonly wire: string } | undefined;
  readonly isBehindGap: boolean;
}

// A sender for each process that was heard of; the one heard of longest ago goes first.
const mostSenders = 1000;

/**
 * The messages of one process among others. Each is numbered by its sender: so a process knows its own and passes over
 * them, takes none twice, and sees that one never came.
 */
export class Numbered {
  readonly #sender = freshHex(8);
  #last = 0;
  /** The last number of each other sender. */
  #heard = new OldestFirst<number>();

  /** The next message. Its number is used up, whether or not it can be sent: so the others see that it did not come. */
  event(topic: string, wire: string): string {
    return `${this.#sender} ${++this.#last} ${topic.length} ${topic}${wire}`;
  }

  /** A message that only says how far this process is. */
  mark(): string {
    return `${this.#sender} ${this.#last}`;
  }

  /** What a message says; `own` for one of this process, undefined for what was heard before or is no message. */
  read(message: string): Heard | "own" | undefined {
    const [head, sender = "", digits, topicLength] = /^([0-9a-f]{16}) (\d{1,16})(?: (\d{1,9}) |$)/.exec(message) ?? [];
    if (head === undefined) return undefined;
    if (sender === this.#sender) return "own";
    const isEvent = topicLength !== undefined;
    const end = head.length + Number(topicLength ?? 0);
    if (end > message.length) return undefined;
    const number = Number(digits);
    const known = this.#heard.get(sender);
    if (known !== undefined && (isEvent ? number <= known : number < known)) return undefined;
    this.#know(sender, number);
    const isBehindGap = known !== undefined && number > known + (isEvent ? 1 : 0);
    if (!isEvent) return { event: undefined, isBehindGap };
    return { event: { topic: message.slice(head.length, end), wire: message.slice(end) }, isBehindGap };
  }

  /** What comes next is not measured by what came before: there was a break. */
  forget(): void {
    this.#heard = new OldestFirst();
  }

  #know(sender: string, number: number): void {
    this.#heard.set(sender, number);
    if (this.#heard.size > mostSenders) this.#heard.deleteOldest();
  }
}
