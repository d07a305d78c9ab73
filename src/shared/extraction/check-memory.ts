// What a background run may not save, whatever the conversation told it to. One file is refused with
// its reason, never more; a person's own words in a conversation are not held to this.

import { parseEntry } from "../memdir/entry.ts";
import { INDEX_FILE } from "../memdir/entrypoint.ts";
import { MEMORY_TYPES } from "../memdir/types.ts";

/** A value that still is what the instructions show: "<short title>", "<user | feedback | …>". */
const PLACEHOLDER = /^\s*["']?<[^<>]*>["']?\s*$/;

/**
 * Sentences that hand out rights. Each asks for a subject that is the agent or nobody, and for words
 * that only rules about rights use: "reviews system prompt designs" is none of them.
 */
const GRANTS: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget|override)\s+(?:all\s+|any\s+|the\s+|your\s+|these\s+)*(?:previous|prior|earlier|above|system|safety|other)\s+(?:instructions?|rules?|prompts?|limits?|restrictions?)/i,
  /\b(?:bypass|disable|turn\s+off|switch\s+off|skip|circumvent)\s+(?:all\s+|any\s+|the\s+|your\s+)*(?:sandbox|permissions?(?:\s+(?:checks?|prompts?))?|approvals?|confirmations?|safety(?:\s+\w+)?|secret\s+scan\w*|access\s+checks?)\b/i,
  /\b(?:you|the\s+(?:agent|assistant|model|fork)|it)\s+(?:may|can|are|is|have|has)\s+(?:now\s+|always\s+|hereby\s+)*(?:been\s+)?(?:allowed|authori[sz]ed|permitted|granted|cleared|free|full|unrestricted|unlimited|root|admin\w*)\b[^.\n]{0,60}\b(?:access|rights?|permissions?|privileges?|admin\w*|root|secrets?|any(?:thing|where|\s+\w+)|all\s+\w+|outside|without)\b/i,
  /\b(?:grant|give)\s+(?:yourself|the\s+(?:agent|assistant)|me|this\s+user)\s+(?:\w+\s+){0,3}(?:access|rights?|permissions?|privileges?|admin\w*|root)\b/i,
  /\b(?:never|do\s+not|don['’]t|no\s+need\s+to)\s+ask\s+(?:\w+\s+){0,3}(?:permission|approval|confirmation)\b|\bwithout\s+(?:asking\s+(?:for\s+)?|any\s+)?(?:permission|approval|confirmation)\b/i,
  /\b(?:role|permission_mode)\s*[:=]\s*["']?(?:admin|root|bypass\w*)\b/i,
];

/**
 * Why a background run may not write this text at a path of the directory; undefined where it may.
 * The reason says what to change. The index is held to the rule about rights only.
 */
export function checkMemory(path: string, text: string): string | undefined {
  const grant = GRANTS.some((rule) => rule.test(text));
  if (grant) {
    return "it hands out rights or switches off a check. A memory is information and cannot do that: save the fact without it, or nothing";
  }
  if (path === INDEX_FILE) return undefined;
  if (!path.endsWith(".md")) return "a memory is a Markdown file: choose a name that ends in .md";
  const { name, description, type, diagnostic } = parseEntry(text);
  if (diagnostic !== undefined) return `its frontmatter cannot be read: ${diagnostic}`;
  for (const [key, value] of Object.entries({ name, description })) {
    if (value === undefined) return `its frontmatter has no ${key}. Add a line "${key}: …"`;
    if (PLACEHOLDER.test(value))
      return `its ${key} is the placeholder of the instructions. Put the real ${key} there`;
  }
  if (type === undefined)
    return `its type is none of: ${MEMORY_TYPES.join(", ")}. Choose one of them`;
  const file = path.slice(path.lastIndexOf("/") + 1).replace(/\.md$/, "");
  if (/^<.*>$|^(?:readable_name|file|name|untitled)$/i.test(file)) {
    return "its file name is the placeholder of the instructions. Name the file after its subject";
  }
  return undefined;
}
