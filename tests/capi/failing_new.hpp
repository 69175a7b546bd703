// The program's operator new, made to fail on demand; a shared library in the process uses it too.
#pragma once

namespace clef::test {

void arm(long k);    // the k-th allocation from now on fails, counted from 0; -1: none
long disarm();       // none fails any more; how many there were since arm()
long live_blocks();  // that were not given back

}  // namespace clef::test
