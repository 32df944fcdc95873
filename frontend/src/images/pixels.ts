/** A picture as its numbers, from 0 to 1: [channel][row of pixels][column]. */
export type Values = number[][][];

/** The numbers of a PNG in base64. */
export const decode = async (png: string, channels: number): Promise<Values> => {
  const image = new Image();
  image.src = "data:image/png;base64," + png;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
  const pen = canvas.getContext("2d", { willReadFrequently: true })!;
  pen.drawImage(image, 0, 0);
  const { data, width, height } = pen.getImageData(0, 0, canvas.width, canvas.height);
  return Array.from({ length: channels }, (_, c) =>
    Array.from({ length: height }, (_, y) => Array.from({ length: width }, (_, x) => data[4 * (y * width + x) + c] / 255)));
};

/** A patch as the model is given it: one row of numbers for each channel, each row of pixels after the other. */
export const patchOf = (values: Values, size: number, columns: number, at: number): number[][] => {
  const [top, left] = [Math.floor(at / columns) * size, (at % columns) * size];
  return values.map((channel) => channel.slice(top, top + size).flatMap((row) => row.slice(left, left + size)));
};
