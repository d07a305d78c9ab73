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
  const terms = (text: string) => [...searchTerms(text)];

  it("are its words in lower case, each once, without what says nothing about the matter", () => {
    expect(terms("What is the Deploy rule? The deploy RULE, please.")).toEqual(["deploy", "rule"]);
    expect(terms("Wie lautet die Regel für das Deployment?")).toEqual([
      "lautet",
      "regel",
      "deployment",
    ]);
    expect(terms("don't you know? I'll tell you, it's ours")).toEqual([]);
  });

  it("are also the parts of snake, kebab and camel names", () => {
    expect(terms("validateToken user_role oat-milk HTTPServer")).toEqual([
      ...["validate", "token", "validatetoken", "user", "role", "userrole"],
      ...["oat", "milk", "http", "server", "httpserver"],
    ]);
  });

  it.each([
    ["release", "releases"],
    ["box", "boxes"],
    ["cache", "caches"],
    ["class", "classes"],
    ["story", "stories"],
    ["movie", "movies"],
    ["file", "files"],
  ])("%s and %s are one", (one, many) => {
    expect(terms(many)).toEqual(terms(one));
  });

  it("keep words that only look like a plural", () => {
    expect(terms("status analysis pass gas")).toEqual(["status", "analysis", "pass", "gas"]);
  });

  it("are pairs of neighbours where a script writes no blanks; one sign stands for itself", () => {
    expect(terms("我们的部署规则是什么？")).toEqual(["部署", "署规", "规则"]);
    expect(terms("デプロイ")).toEqual(["デプ", "プロ", "ロイ"]);
    expect(terms("배포 규칙")).toEqual(["배포", "규칙"]);
    expect(terms("茶")).toEqual(["茶"]);
    expect(terms("部署 on Friday")).toEqual(["friday", "部署"]);
    expect(terms("これは何ですか")).toEqual([]);
  });

  it("are the same for full-width and half-width writing", () => {
    expect(terms("ＤＥＰＬＯＹ ﾃﾞﾌﾟﾛｲ")).toEqual(terms("deploy デプロイ"));
  });

  it("come from the first 20,000 characters alone", () => {
    expect(terms(`first ${" ".repeat(20_000)} last`)).toEqual(["first"]);
    expect(wordCount(`a ${" ".repeat(20_000)} b`)).toBe(1);
    // One sign that stands for eighteen letters.
    expect(terms(`${"\ufdfa ".repeat(2000)}last`)).not.toContain("last");
  });
});
