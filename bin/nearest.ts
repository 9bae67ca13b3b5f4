export { didYouMean } from '../schemas/nearest.ts';
