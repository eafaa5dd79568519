package chart
import ("testing";"os";"path/filepath";"fmt")
func TestDump(t *testing.T) {
 for _, n := range []string{"web","store","agent"} {
  r, err := Convert(os.DirFS("testdata/"+n), Target{"example.com","v1alpha1",map[string]string{"web":"Web","store":"Store","agent":"Agent"}[n], n+"s"})
  if err!=nil { t.Errorf("%s: %v",n,err); continue }
  os.RemoveAll("/tmp/chart-out/"+n)
  for _, f := range r.Files { p:=filepath.Join("/tmp/chart-out",n,f.Path); os.MkdirAll(filepath.Dir(p),0o755); os.WriteFile(p,f.Data,0o644) }
  fmt.Println("==",n); for _, x := range r.Notes { fmt.Println(x) }
 }
}
