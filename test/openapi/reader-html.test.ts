/** Descriptions of other documents have HTML: a few tags are read as Markdown, and nothing of it becomes markup. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { markdownOf } from "../../reader/html.ts";

describe("the HTML of a description", () => {
  it.each<readonly [string, string]>([
    ["<p>One.</p>\n<p>Two.</p>", "One.\n\nTwo."],
    ["One.<br>Two.<br/>Three.", "One.  \nTwo.  \nThree."],
    [
      'See <a class="external" href="https://a.example/b?c=1&amp;d=2" target="_blank">the page</a>.',
      "See [the page](https://a.example/b?c=1&d=2).",
    ],
    ["<a href='https://a.example'>a</a> and <a name='x'>b</a>", "[a](https://a.example) and b"],
    [
      "<b>Bold</b>, <strong>strong</strong>, <em>not</em> and <code>a < b</code>",
      "**Bold**, **strong**, not and `a < b`",
    ],
    ["Two:<ul><li>one</li><li>two</li></ul>Then.", "Two:\n\n- one\n- two\n\nThen."],
    ["<ol>\n<li>one</li>\n</ol>", "- one"],
    ["Tom &amp; Jerry &lt;3 &quot;a&quot; &#39;b&#39; &nbsp;c", "Tom & Jerry <3 \"a\" 'b'  c"],
    ["<h2>Rules</h2>None.", "## Rules\n\nNone."],
    ["&amp;lt; is said once", "&lt; is said once"],
    // Not HTML: it is shown as it is.
    ["`<p>` starts a paragraph", "`<p>` starts a paragraph"],
    ["```\n<b>&amp;</b>\n```", "```\n<b>&amp;</b>\n```"],
    ["a < b and b > c", "a < b and b > c"],
    ["Map<string, Order>", "Map<string, Order>"],
    ["<script>alert(1)</script><img src=x onerror=alert(1)>", "<script>alert(1)</script><img src=x onerror=alert(1)>"],
    ["https://a.example/?a=1&b=2", "https://a.example/?a=1&b=2"],
    ["no tag at all", "no tag at all"],
  ])("%j", (text, markdown) => {
    expect(markdownOf(text)).toBe(markdown);
  });

  it("says a text without a tag or an entity as it is", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!/[<&]/.test(text));
        expect(markdownOf(text)).toBe(text);
      }),
    );
  });

  it("reads a hostile text in a time that grows with its length", () => {
    for (const one of ["<a ", "<p", "<a href='", "&", "`", "<code>", "<"]) {
      const text = one.repeat(200_000 / one.length);
      expect(markdownOf(text).length).toBeLessThanOrEqual(text.length * 2);
    }
  });
});
