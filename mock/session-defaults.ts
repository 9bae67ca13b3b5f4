/** Numbers where nobody says otherwise: worlds beside the main one, requests that each of them keeps. */
export const sessionDefaults = { maxWorlds: 100, journal: 1000 } as const;
