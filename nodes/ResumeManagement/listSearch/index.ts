export { searchResumes } from './resumes';
export { searchUsers } from './users';
