/** The bytes of an address, 4 or 16; an IPv4 address written as IPv6 has 4. Undefined where the text is no address. */
export function addressBytes(text: string): Uint8Array | undefined {
  const bytes = text.includes(":") ? sixBytes(text) : fourBytes(text);
  if (bytes === undefined || bytes.length === 4) return bytes;
  return mappedPrefix.every((byte, i) => bytes[i] === byte) ? bytes.subarray(12) : bytes;
}

const mappedPrefix = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

function fourBytes(text: string): Uint8Array | undefined {
  // A leading zero is octal to some readers and not to others, so it is none.
  if (!/^(?:(?:0|[1-9]\d{0,2})(?:\.(?!$)|$)){4}$/.test(text)) return undefined;
  const numbers = text.split(".").map(Number);
  return numbers.every((number) => number <= 255) ? Uint8Array.from(numbers) : undefined;
}

/** RFC 4291 §2.2: eight groups, of which `::` stands for one or more that are zero; the last two may be an IPv4 address. */
function sixBytes(text: string): Uint8Array | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [before, after] = [groups(halves[0] as string, halves.length === 1), groups(halves[1] ?? "", true)];
  if (before === undefined || after === undefined) return undefined;
  const given = before.length + after.length;
  if (halves.length === 1 ? given !== 16 : given > 14) return undefined;
  const bytes = new Uint8Array(16);
  bytes.set(before);
  bytes.set(after, 16 - after.length);
  return bytes;
}

function groups(text: string, isLast: boolean): readonly number[] | undefined {
  if (text === "") return [];
  const bytes: number[] = [];
  const words = text.split(":");
  for (const [i, word] of words.entries()) {
    if (isLast && i === words.length - 1 && word.includes(".")) {
      const four = fourBytes(word);
      if (four === undefined) return undefined;
      bytes.push(...four);
    } else {
      if (!/^[0-9a-f]{1,4}$/i.test(word)) return undefined;
      const group = Number.parseInt(word, 16);
      bytes.push(group >> 8, group & 0xff);
    }
  }
  return bytes;
}
