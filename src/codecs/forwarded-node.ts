const octet = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
const obfuscated = "_[A-Za-z0-9._-]+";
// RFC 7239 §6. The groups are what stands in brackets, and the port where it is a number.
const node = /* @__PURE__ */ new RegExp(
  `^(?:${octet}(?:\\.${octet}){3}|\\[([0-9A-Fa-f:.]{2,45})\\]|[uU][nN][kK][nN][oO][wW][nN]|${obfuscated})` +
    `(?::(?:([0-9]{1,5})|${obfuscated}))?$`,
);

/** Whether text names one side of a hop: an address, `unknown` or an obfuscated name, and a port where there is one. */
export function isNode(text: string): boolean {
  const parts = node.exec(text);
  if (parts === null) return false;
  const [, ipv6, port] = parts;
  return (ipv6 === undefined || isIpv6(ipv6)) && (port === undefined || Number(port) <= 65_535);
}

function isIpv6(address: string): boolean {
  return URL.canParse(`http://[${address}]/`);
}
