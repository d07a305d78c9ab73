import { describe, expect, it, test } from "vitest";
import { searchTerms, wordCount } from "./words.ts";

test.each([
  ["", 0],
  [" \n…🙂 !", 0],
  ["thanks", 1],
  ["thanks!!", 1],
  ["谢谢", 1],
  ["when deploy", 2],
  ["部署规则", 2],
  ["デプロイのルール", 3],
])("%j has %s words", (text, count) => {
  expect(wordCount(text)).toBe(count);
});

describe("the terms of a text", () => {
  const words = (text: string) => [...searchTerms(text).words.keys()];
  const segments = (text: string) => [...searchTerms(text).segments.keys()];
  const pairs = (text: string) => [...searchTerms(text).pairs];

  it("are its words in lower case, each once, without what says nothing about the matter", () => {
    expect(words("What is the Deploy rule? The deploy RULE, please.")).toEqual(["deploy", "rule"]);
    expect(words("Wie lautet die Regel für das Deployment?")).toEqual([
      ...["lautet", "regel", "deployment"],
    ]);
    expect(words("don't you know? I'll tell you, it's ours")).toEqual([]);
  });

  it("are without accents: in German the plural brings some", () => {
    expect(words("Läger Größe crème")).toEqual(["lager", "grosse", "creme"]);
  });

  it("are also the parts of snake, kebab and camel names", () => {
    expect(words("validateToken user_role oat-milk HTTPServer")).toEqual([
      ...["validate", "token", "validatetoken", "user", "role", "userrole"],
      ...["oat", "milk", "http", "server", "httpserver"],
    ]);
  });

  it("weigh more as a name and as a long word, and less as a request and as a German verb", () => {
    const weight = (text: string, word: string) => searchTerms(text).words.get(word) ?? -1;
    expect(weight("ask Tomasz", "tomasz")).toBeGreaterThan(weight("ask tomasz", "tomasz"));
    expect(weight("the contract", "contract")).toBeGreaterThan(weight("the file", "file"));
    expect(weight("write it", "write")).toBeLessThan(weight("the file", "file"));
    expect(weight("wir haben das geliefert", "geliefert")).toBeLessThan(
      weight("geliefert", "geliefert"),
    );
    // A capital at the beginning of a sentence makes no name.
    expect(weight("Contract?", "contract")).toBe(weight("the contract", "contract"));
    expect(weight("so. Contract?", "contract")).toBe(weight("the contract", "contract"));
    expect(weight("validateToken", "validatetoken")).toBe(0);
  });

  it("are words where a script writes no blanks, and pairs of neighbours to find them by", () => {
    expect(segments("我们的部署规则是什么？")).toEqual(["部署", "规则"]);
    expect(segments("デプロイはいつ")).toEqual(["デプロイ", "いつ"]);
    expect(pairs("部署规则")).toEqual(["部", "署", "规", "则", "部署", "署规", "规则"]);
    expect(segments("배포 규칙")).toEqual(["배포", "규칙"]);
    expect(segments("茶")).toEqual(["茶"]);
    expect(words("部署 on Friday")).toEqual(["friday"]);
    expect(segments("これは何ですか")).toEqual([]);
  });

  it("are names too that no dictionary knows: single signs in a row are one word", () => {
    expect(segments("林涛是谁？")).toEqual(["林涛"]);
  });

  it("are the same for full-width and half-width writing", () => {
    expect(words("ＤＥＰＬＯＹ")).toEqual(["deploy"]);
    expect(segments("ﾃﾞﾌﾟﾛｲ")).toEqual(segments("デプロイ"));
  });

  it("come from the first 20,000 characters alone", () => {
    expect(words(`first ${" ".repeat(20_000)} last`)).toEqual(["first"]);
    expect(wordCount(`a ${" ".repeat(20_000)} b`)).toBe(1);
    // One sign that stands for eighteen letters.
    expect(words(`${"\ufdfa ".repeat(2000)}last`)).not.toContain("last");
  });
});
