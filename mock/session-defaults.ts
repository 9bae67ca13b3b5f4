/** Numbers where nobody says otherwise: worlds beside the main one, requests that each of them keeps, seed of the chaos. */
export const sessionDefaults = { maxWorlds: 100, journal: 1000, chaosSeed: 1 } as const;
