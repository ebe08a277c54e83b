"""What random_tensor_programs, beside this folder, is made of."""
