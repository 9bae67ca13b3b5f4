/** Something that a mock was asked to do and cannot; the message says why, `place` in the details where. */
export class Refusal extends Error {
  readonly status: number;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(status: number, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.details = details;
  }
}

/** 400, with the place in the request that is wrong. */
export const wrongAt = (place: string, message: string) =>
  new Refusal(400, place === '' ? message : `${place} ${message}`, place === '' ? {} : { place });
