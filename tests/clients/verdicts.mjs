// Judges the requests of `requests.jsonl` with the manual's `receiver.mjs`: prints 1 or 0 for each.
import { readFileSync } from "node:fs";
import * as receiver from "./receiver.mjs";

async function genuine({ secret, headers, body }) {
  const raw = Buffer.from(body, "base64");
  if (receiver.verifyFormWebhook) {
    return receiver.verifyFormWebhook(secret, raw.toString(), headers["x-formd-signature"]);
  }
  try {
    return receiver.submission(secret, headers, raw) !== undefined;
  } catch {
    return false;
  }
}

let verdicts = "";
for (const line of readFileSync("requests.jsonl", "utf8").trim().split("\n")) {
  verdicts += (await genuine(JSON.parse(line))) ? "1" : "0";
}
console.log(verdicts);
