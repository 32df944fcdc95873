import type { Scene } from "../scene/scene";
import { ask, Refused, type Lab } from "../train/api";

/** What the lab says of pictures: see src/mirada/lab/image_routes.py. */

/** Who can look. new: one for photographs that has learnt nothing; digits and photos: runs that have finished. */
export interface Looker {
  id: string;
  kind: "new" | "digits" | "photos";
  parameters: number | null;
  /** The share of pictures it had never seen that it names rightly. */
  score: number | null;
}

/** digits: the run that is to teach the one of digits, where none has finished. */
export interface Lookers { models: Looker[]; digits: string | null }

/** A person's picture, checked: a PNG in base64, what it was, and what was done to it, in sentences. */
export interface Opened { width: number; height: number; picture: string; notes: string[] }

/** What a model makes of a picture. pixels: what it reads of it, a PNG in base64. */
export interface Seen {
  pixels: string;
  /** Rows and columns of patches; how many pixels a patch has each way; numbers of a pixel. */
  grid: [number, number];
  patch: number;
  channels: number;
  tokens: string[];
  probabilities: { label: string; share: number }[] | null;
  scenes: { block: number; head: number; scene: Scene }[];
}

export const MOST_BYTES = 20e6;

/** A picture that a person chose: checked by the lab, which keeps nothing of it. Rejects with Refused. */
export const open = async (lab: Lab, file: Blob): Promise<Opened> => {
  let answer: Response | undefined;
  let said: unknown;
  try {
    answer = await ask(lab, "images", { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: file });
    said = await answer.json();
  } catch {
    throw new Refused(0);
  }
  if (answer.ok) return said as Opened;
  throw new Refused(answer.status, (said as { error?: { message?: string } }).error?.message);
};

/** A file's bytes in base64. */
export const base64 = async (file: Blob): Promise<string> => {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(text);
};
