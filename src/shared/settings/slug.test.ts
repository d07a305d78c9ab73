import { expect, test } from "vitest";
import { canonicalPath } from "../safety/path.ts";
import { projectSlug } from "./slug.ts";

const ROOTS = 100_000;

/** What a root is made of: characters that naive slugs map onto one another. */
const WORDS = [
  "app",
  "App",
  "APP",
  "a",
  "test",
  "naïve",
  "été",
  "étè",
  "项目",
  "测试",
  "приложение",
  "🙂",
  "v2",
  "x".repeat(60),
];
const JOINTS = ["/", "-", "_", ".", " ", "--", "/-", "-/", "~", "+"];

/** The `n`th root: another one for each number, by mixed radix over joints and words. */
function rootAt(n: number): string {
  let text = `/srv/${n % 7 === 0 ? "p" : "P"}`;
  let left = n;
  while (left > 0) {
    const joint = JOINTS[left % JOINTS.length] ?? "/";
    left = Math.floor(left / JOINTS.length);
    text += `${joint}${WORDS[left % WORDS.length] ?? "a"}`;
    left = Math.floor(left / WORDS.length);
  }
  // A letter at the end, since no segment may end in a blank.
  return `${text}z`;
}

test("100,000 roots have 100,000 slugs, each a readable key part", {
  timeout: 10_000,
}, async () => {
  const roots = new Set<string>();
  for (let n = 0; roots.size < ROOTS; n += 1) {
    const root = rootAt(n).normalize("NFC");
    // Canonical by how it is made, where no segment begins or ends in a blank or is dots only.
    if (/\/\/| \/|\/ |\/\.+\//.test(root)) continue;
    if (n % 50 === 0 && canonicalPath(root).status === "refused") throw new Error(root);
    roots.add(root);
  }
  const slugs = new Set<string>();
  let longest = 0;
  let batch: string[] = [];
  const flush = async () => {
    for (const slug of await Promise.all(batch.map(projectSlug))) {
      // Checked by hand: an assertion each would be most of the time.
      if (!/^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?-[a-z2-7]{24}$/.test(slug)) throw new Error(slug);
      longest = Math.max(longest, slug.length);
      slugs.add(slug);
    }
    batch = [];
  };
  for (const root of roots) if (batch.push(root) === 1000) await flush();
  await flush();
  expect(slugs.size).toBe(ROOTS);
  expect(longest).toBeLessThanOrEqual(73);
  // What is told apart does not depend on case either, for stores on a disk.
  expect(new Set([...slugs].map((slug) => slug.toLowerCase())).size).toBe(ROOTS);
});

test("a root has the same slug for ever", async () => {
  const roots = [
    "/",
    "/workspace/app",
    "/srv/acme/test-project",
    "/srv/acme/test/project",
    "/srv/项目甲",
    "/srv/été",
  ];
  expect(await Promise.all(roots.map(projectSlug))).toMatchInlineSnapshot(`
    [
      "project-rjpnvmucmmsegim6aupevxrn",
      "workspace-app-v57ciplqwfqt26agqolh7erm",
      "srv-acme-test-project-f7lhqqere3zw5xun5227lepl",
      "srv-acme-test-project-amv55ze7qzzsqiig43yqv4z4",
      "srv-o47p4kokmvzuotaegdialr4p",
      "srv-e-te-naeazmpux3lqhnhw2xv6wvco",
    ]
  `);
});

test("PATH-02: composed and decomposed spellings of a root are one project", async () => {
  const roots = ["/srv/e\u0301te\u0301", "/srv/\u00e9t\u00e9", "/srv//\u00e9t\u00e9/"].map(
    (raw) => {
      const path = canonicalPath(raw);
      return path.status === "ok" ? path.path : raw;
    },
  );
  expect(new Set(await Promise.all(roots.map(projectSlug))).size).toBe(1);
});

test.each([
  ["/workspace/My App_v2.0", "workspace-my-app-v2-0"],
  ["/srv/été", "srv-e-te"],
  ["/项目/测试", "project"],
  ["/---", "project"],
])("the slug of %s can be read: it begins with %s", async (root, readable) => {
  expect((await projectSlug(root)).slice(0, -25)).toBe(readable);
});
