static volatile int sink;
__attribute__((noinline)) int leaf(int x){ return x*3+1; }
__attribute__((noinline)) int leaf2(int x){ if(x%3==0) return leaf(x)+2; return x-1; }
typedef int (*fn)(int);
__attribute__((noinline)) int work(int n){ int s=0; for(int i=0;i<n;i++){ if(i&1) { fn f=(i&2)?leaf:leaf2; __asm__("":"+r"(f)); s+=f(i); } else s^=leaf2(s+i); } return s; }
int main(void){ for(int i=0;i<120;i++) sink+=work(40); return 0; }
void _start(void){ main(); __asm__ volatile("mov $60,%eax; xor %edi,%edi; syscall"); }
